"""Given names and well-known places: a list of our own that backs or refutes what the news model believes.

Does not: list surnames, or decide by itself; nlp/evidence weighs it with what the corpus shows.
"""

from __future__ import annotations

from graphrag.nlp.lexicon import words

GIVEN_NAMES = words(
    "aaron abdul abigail adam adrian agnes ahmed aisha alan albert alejandro alex alexander alexandra alexei alfred "
    "ali alice alicia alina alison allison alyssa amanda amelia amina amir amit amy ana anders andre andrea andreas "
    "andrei andrew andrey andy angela anita anja anjali ann anna anne anthony antoine antonio anton arjun arthur arun "
    "ashley astrid barbara barry bart beatrice ben benjamin bernard beth bill bjorn bob boris brad brandon brandt "
    "brendan brett brian bruce bruno camille carl carla carlos carmen carol caroline catherine charles charlotte chen "
    "chloe chris christian christina christine christoph christopher cindy claire clara claudia colin craig cristina "
    "daniel daniela danny dave david deborah deepak denis dennis derek diana diego dieter dima dmitri dmitry dominic "
    "donald donna dorothy douglas dustin edward eduardo elena eli elias elizabeth ella ellen emily emma enrique eric "
    "erik erika ernest esther ethan eugene eva evelyn fatima felipe felix fernando fiona florian frances francesca "
    "francis francisco frank fred frederic friedrich gabriel gareth gary george georg gerald giovanni giulia gordon "
    "grace graham greg gregory guido guillaume gustav hana hannah hans harold harry hassan heather heidi helen helena "
    "helmut henrik henry hiroshi holly hugo ian ibrahim igor inada ingrid irene irina isaac isabel isabella ivan jack "
    "jacob jacques jakob james jamie jan jane janet jason javier jean jeff jeffrey jelle jennifer jenny jens jeremy "
    "jesse jessica jim joan joe joel johan johann johannes john jonas jonathan jordan jorge jose josef joseph joshua "
    "juan judith julia julian julie jurgen justin kai karen karin karl kate katherine kathleen katja keith kelly ken "
    "kenneth kevin kim klaus kristina kumar kurt kyle lars laura lauren laurent lea lena leo leon leonard leonardo li "
    "liam lisa louis louise luca lucas lucia lucy luis luka lukas lukasz łukasz luke lynn magnus malcolm manuel marc "
    "marcel marco marcus margaret maria marie marina mario marion mark marko marta martha martin mary mateo matt "
    "matthew matthias maurice max maya megan mehmet mei melanie melissa michael michal michel michelle miguel mihai "
    "mike mikhail milan miro miroslav mohamed mohammed monica monika muhammad nadia nancy naomi natalia natalie "
    "nathan neil nicholas nick nicolas nicole nikhil nikita nikola nikolai nina noah nora oleg oliver olga olivia "
    "omar oscar otto pablo pamela pat patricia patrick paul paula pavel pedro peter petr philip philipp phil pierre "
    "piotr priya rachel rafael raj rajesh ralf ralph ramesh raquel raymond rebecca renata rene ricardo richard rick "
    "robert roberto robin rodrigo roger roland roman ronald rosa rose ross roy ruben rudolf ruth ryan sabine sally "
    "sam samantha samuel sandra sanjay sara sarah scott sean sebastian sergei sergey sergio shannon sharon shirley "
    "simon simone sofia sonia sophia sophie stan stanley stefan stefano stella stephan stephanie stephen steve steven "
    "stuart sunil susan sven sylvia takashi tal tamara tanja tara tatiana ted teresa terry theodore theresa thomas "
    "tian tim timothy tobias todd tom tomas tomasz tony tyler tzu-ping ulrich ursula valentina valerie vera veronica "
    "victor victoria viktor vincent virginia vladimir walter wang wei wendy werner wilhelm will william wolfgang "
    "xavier yael yan yann yuki yuri yury yusuf yvonne zach zhang zoe"
)
_PLACES = (
    "Afghanistan, Africa, Albania, Algeria, Amsterdam, Ankara, Antarctica, Argentina, Armenia, Asia, Athens, "
    "Atlanta, Auckland, Australia, Austria, Azerbaijan, Baghdad, Bangalore, Bangkok, Bangladesh, Barcelona, "
    "Beijing, Belarus, Belfast, Belgium, Belgrade, Berlin, Bern, Bilbao, Birmingham, Bolivia, Bosnia, Boston, "
    "Brasília, Bratislava, Brazil, Bremen, Bristol, Britain, Brussels, Bucharest, Budapest, Bulgaria, Cairo, "
    "California, Cambodia, Cambridge, Canada, Cardiff, Chicago, Chile, China, Cologne, Colombia, Copenhagen, "
    "Croatia, Cuba, Cyprus, Czechia, Dallas, Damascus, Delhi, Denmark, Denver, Detroit, Dresden, Dubai, Dublin, "
    "Düsseldorf, Ecuador, Edinburgh, Egypt, England, Estonia, Ethiopia, Europe, Finland, Florence, Florida, "
    "France, Frankfurt, Geneva, Genoa, Germany, Ghana, Glasgow, Gothenburg, Graz, Greece, Guatemala, Hamburg, "
    "Hanoi, Hanover, Helsinki, Houston, Hungary, Iceland, India, Indonesia, Iran, Iraq, Ireland, Israel, "
    "Istanbul, Italy, Jakarta, Jamaica, Japan, Jerusalem, Johannesburg, Kazakhstan, Kenya, Kiev, Korea, Kraków, "
    "Kuwait, Kyiv, Latvia, Lebanon, Leeds, Leipzig, Libya, Lima, Lisbon, Lithuania, Liverpool, Ljubljana, "
    "London, Luxembourg, Lyon, Macedonia, Madrid, Malaysia, Malta, Manchester, Marseille, Melbourne, Mexico, "
    "Miami, Milan, Minsk, Moldova, Mongolia, Montenegro, Montreal, Morocco, Moscow, Mumbai, Munich, Nairobi, "
    "Naples, Nepal, Netherlands, Nicaragua, Nigeria, Norway, Oslo, Oxford, Pakistan, Palestine, Panama, "
    "Paraguay, Paris, Peru, Philadelphia, Philippines, Poland, Porto, Portugal, Prague, Qatar, Riga, Rome, "
    "Romania, Rotterdam, Russia, Salzburg, Santiago, Sarajevo, Scotland, Seattle, Seoul, Serbia, Shanghai, "
    "Sheffield, Siberia, Sicily, Singapore, Slovakia, Slovenia, Sofia, Somalia, Spain, Stockholm, Stuttgart, "
    "Sudan, Sweden, Switzerland, Sydney, Syria, Taipei, Taiwan, Tallinn, Tanzania, Tehran, Texas, Thailand, "
    "Tokyo, Toronto, Trieste, Tunisia, Turin, Turkey, Uganda, Ukraine, Uruguay, Valencia, Vancouver, Venezuela, "
    "Venice, Vienna, Vietnam, Vilnius, Virginia, Wales, Warsaw, Washington, Yemen, Zagreb, Zambia, Zimbabwe, "
    "Zurich, Zürich, New York, San Francisco, Los Angeles, United States, United Kingdom, UK, USA, New Zealand, "
    "South Africa, Saudi Arabia, Sri Lanka, Hong Kong, Tel Aviv, North America, South America, Northern Ireland, "
    "Costa Rica"
)
PLACES = frozenset(_PLACES.split(", "))
