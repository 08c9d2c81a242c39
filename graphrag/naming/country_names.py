"""Names of countries: short, official, abbreviated, and the adjective where it stands for the country.

One row a country; the first name leads; adjectives stand after the bar.

Does not: say where a name means its country (the rule by_country does), or know towns and regions.
"""

from __future__ import annotations

from graphrag.names import name_key

_ROWS = """
United States, United States of America, US, USA, U.S., U.S.A., America | American, Americans
United Kingdom, United Kingdom of Great Britain and Northern Ireland, UK, U.K., Great Britain, Britain | British
Soviet Union, Union of Soviet Socialist Republics, USSR, U.S.S.R. | Soviet
China, People's Republic of China, PRC, P.R.C., Mainland China | Chinese
Taiwan, Republic of China | Taiwanese
Germany, Federal Republic of Germany | German, Germans
East Germany, German Democratic Republic, GDR, DDR | East German
West Germany | West German
Russia, Russian Federation | Russian, Russians
France, French Republic | French
Italy, Italian Republic | Italian, Italians
Spain, Kingdom of Spain | Spanish
Portugal, Portuguese Republic | Portuguese
Netherlands, Kingdom of the Netherlands, Holland | Dutch
Belgium, Kingdom of Belgium | Belgian, Belgians
Luxembourg, Grand Duchy of Luxembourg | Luxembourgish
Switzerland, Swiss Confederation | Swiss
Austria, Republic of Austria | Austrian, Austrians
Liechtenstein, Principality of Liechtenstein
Poland, Republic of Poland | Polish
Czech Republic, Czechia | Czech, Czechs
Czechoslovakia | Czechoslovak, Czechoslovakian
Slovakia, Slovak Republic | Slovak, Slovakian
Hungary | Hungarian, Hungarians
Romania | Romanian, Romanians
Bulgaria, Republic of Bulgaria | Bulgarian, Bulgarians
Greece, Hellenic Republic | Greek, Greeks
Cyprus, Republic of Cyprus | Cypriot
Turkey, Republic of Turkey, Türkiye, Turkiye | Turkish
Albania, Republic of Albania | Albanian, Albanians
Kosovo, Republic of Kosovo | Kosovar
Serbia, Republic of Serbia | Serbian, Serbians
Croatia, Republic of Croatia | Croatian, Croatians
Slovenia, Republic of Slovenia | Slovenian, Slovene
Bosnia and Herzegovina, Bosnia-Herzegovina, Bosnia & Herzegovina | Bosnian
Montenegro | Montenegrin
North Macedonia, Republic of North Macedonia, Republic of Macedonia | Macedonian
Yugoslavia, Socialist Federal Republic of Yugoslavia, SFRY | Yugoslav, Yugoslavian
Ukraine | Ukrainian, Ukrainians
Belarus, Republic of Belarus, Byelorussia | Belarusian, Belorussian
Moldova, Republic of Moldova | Moldovan
Lithuania, Republic of Lithuania | Lithuanian, Lithuanians
Latvia, Republic of Latvia | Latvian, Latvians
Estonia, Republic of Estonia | Estonian, Estonians
Finland, Republic of Finland | Finnish
Sweden, Kingdom of Sweden | Swedish
Norway, Kingdom of Norway | Norwegian, Norwegians
Denmark, Kingdom of Denmark | Danish
Iceland, Republic of Iceland | Icelandic
Ireland, Republic of Ireland, Éire | Irish
England | English
Scotland | Scottish
Wales | Welsh
Northern Ireland | Northern Irish
Malta, Republic of Malta | Maltese
Monaco, Principality of Monaco | Monegasque
Georgia, Republic of Georgia | Georgian, Georgians
Armenia, Republic of Armenia | Armenian, Armenians
Azerbaijan, Republic of Azerbaijan | Azerbaijani
Kazakhstan, Republic of Kazakhstan | Kazakh, Kazakhstani
Uzbekistan, Republic of Uzbekistan | Uzbek
Turkmenistan | Turkmen
Kyrgyzstan, Kyrgyz Republic | Kyrgyz
Tajikistan, Republic of Tajikistan | Tajik
Mongolia | Mongolian, Mongolians
Japan, Empire of Japan | Japanese
South Korea, Republic of Korea, ROK | South Korean
North Korea, Democratic People's Republic of Korea, DPRK | North Korean
Korea | Korean, Koreans
Vietnam, Socialist Republic of Vietnam, Viet Nam | Vietnamese
Laos, Lao People's Democratic Republic | Laotian, Lao
Cambodia, Kingdom of Cambodia, Kampuchea | Cambodian, Cambodians
Thailand, Kingdom of Thailand, Siam | Thai
Myanmar, Republic of the Union of Myanmar, Burma | Burmese
Malaysia | Malaysian, Malaysians
Singapore, Republic of Singapore | Singaporean
Indonesia, Republic of Indonesia | Indonesian, Indonesians
Philippines, Republic of the Philippines | Philippine, Filipino
Brunei, Brunei Darussalam | Bruneian
East Timor, Timor-Leste | Timorese, East Timorese
India, Republic of India | Indian, Indians
Pakistan, Islamic Republic of Pakistan | Pakistani, Pakistanis
Bangladesh, People's Republic of Bangladesh | Bangladeshi
Sri Lanka, Ceylon | Sri Lankan
Nepal | Nepali, Nepalese
Bhutan, Kingdom of Bhutan | Bhutanese
Maldives, Republic of Maldives | Maldivian
Afghanistan, Islamic Republic of Afghanistan | Afghan, Afghans
Iran, Islamic Republic of Iran | Iranian, Iranians
Iraq, Republic of Iraq | Iraqi, Iraqis
Syria, Syrian Arab Republic | Syrian, Syrians
Lebanon, Lebanese Republic | Lebanese
Israel, State of Israel | Israeli, Israelis
Palestine, State of Palestine | Palestinian, Palestinians
Jordan, Hashemite Kingdom of Jordan | Jordanian
Saudi Arabia, Kingdom of Saudi Arabia, KSA | Saudi, Saudi Arabian
Yemen, Republic of Yemen | Yemeni
Oman, Sultanate of Oman | Omani
United Arab Emirates, UAE, U.A.E. | Emirati
Qatar, State of Qatar | Qatari
Kuwait, State of Kuwait | Kuwaiti
Bahrain, Kingdom of Bahrain | Bahraini
Egypt, Arab Republic of Egypt | Egyptian, Egyptians
Libya, State of Libya | Libyan, Libyans
Tunisia, Republic of Tunisia | Tunisian, Tunisians
Algeria, People's Democratic Republic of Algeria | Algerian, Algerians
Morocco, Kingdom of Morocco | Moroccan, Moroccans
Mauritania, Islamic Republic of Mauritania | Mauritanian
Mali, Republic of Mali | Malian
Niger, Republic of the Niger | Nigerien
Chad, Republic of Chad | Chadian
Sudan, Republic of the Sudan | Sudanese
South Sudan, Republic of South Sudan | South Sudanese
Ethiopia, Federal Democratic Republic of Ethiopia, Abyssinia | Ethiopian, Ethiopians
Eritrea, State of Eritrea | Eritrean
Somalia, Federal Republic of Somalia | Somali, Somalian
Djibouti, Republic of Djibouti | Djiboutian
Kenya, Republic of Kenya | Kenyan, Kenyans
Uganda, Republic of Uganda | Ugandan
Tanzania, United Republic of Tanzania | Tanzanian
Rwanda, Republic of Rwanda | Rwandan
Burundi, Republic of Burundi | Burundian
Democratic Republic of the Congo, DR Congo, DRC, Zaire
Republic of the Congo, Congo-Brazzaville
Central African Republic
Cameroon, Republic of Cameroon | Cameroonian
Nigeria, Federal Republic of Nigeria | Nigerian, Nigerians
Benin, Republic of Benin | Beninese
Togo, Togolese Republic | Togolese
Ghana, Republic of Ghana | Ghanaian, Ghanaians
Ivory Coast, Côte d'Ivoire, Republic of Côte d'Ivoire | Ivorian
Liberia, Republic of Liberia | Liberian
Sierra Leone, Republic of Sierra Leone | Sierra Leonean
Guinea, Republic of Guinea
Guinea-Bissau, Republic of Guinea-Bissau
Equatorial Guinea, Republic of Equatorial Guinea | Equatoguinean, Equatorial Guinean
Senegal, Republic of Senegal | Senegalese
Gambia, Republic of the Gambia | Gambian
Cape Verde, Cabo Verde | Cape Verdean
Burkina Faso, Upper Volta | Burkinabé
Gabon, Gabonese Republic | Gabonese
São Tomé and Príncipe, Sao Tome and Principe | São Toméan
Angola, Republic of Angola | Angolan, Angolans
Zambia, Republic of Zambia | Zambian
Zimbabwe, Republic of Zimbabwe | Zimbabwean
Malawi, Republic of Malawi | Malawian
Mozambique, Republic of Mozambique | Mozambican
Namibia, Republic of Namibia | Namibian
Botswana, Republic of Botswana | Motswana
Lesotho, Kingdom of Lesotho | Basotho
Eswatini, Kingdom of Eswatini, Swaziland | Swazi
South Africa, Republic of South Africa, RSA | South African, South Africans
Madagascar, Republic of Madagascar | Malagasy
Mauritius, Republic of Mauritius | Mauritian
Seychelles, Republic of Seychelles | Seychellois
Canada, Dominion of Canada | Canadian, Canadians
Mexico, United Mexican States | Mexican, Mexicans
Guatemala, Republic of Guatemala | Guatemalan
Belize | Belizean
Honduras, Republic of Honduras | Honduran
El Salvador, Republic of El Salvador | Salvadoran
Nicaragua, Republic of Nicaragua | Nicaraguan
Costa Rica, Republic of Costa Rica | Costa Rican
Panama, Republic of Panama | Panamanian, Panamanians
Cuba, Republic of Cuba | Cuban, Cubans
Jamaica | Jamaican, Jamaicans
Haiti, Republic of Haiti | Haitian, Haitians
Dominican Republic
Bahamas, Commonwealth of the Bahamas | Bahamian
Barbados | Barbadian
Trinidad and Tobago, Republic of Trinidad and Tobago | Trinidadian
Grenada | Grenadian
Puerto Rico, Commonwealth of Puerto Rico | Puerto Rican, Puerto Ricans
Colombia, Republic of Colombia | Colombian, Colombians
Venezuela, Bolivarian Republic of Venezuela | Venezuelan, Venezuelans
Ecuador, Republic of Ecuador | Ecuadorian, Ecuadorean
Peru, Republic of Peru | Peruvian, Peruvians
Bolivia, Plurinational State of Bolivia | Bolivian
Chile, Republic of Chile | Chilean, Chileans
Argentina, Argentine Republic | Argentine, Argentinian
Uruguay, Oriental Republic of Uruguay | Uruguayan
Paraguay, Republic of Paraguay | Paraguayan
Brazil, Federative Republic of Brazil | Brazilian, Brazilians
Guyana, Co-operative Republic of Guyana | Guyanese
Suriname, Republic of Suriname | Surinamese
Australia, Commonwealth of Australia | Australian, Australians
New Zealand
Papua New Guinea
Fiji, Republic of Fiji | Fijian
Samoa, Independent State of Samoa | Samoan
Tonga, Kingdom of Tonga | Tongan
Solomon Islands
European Union, EU, E.U.
United Nations, United Nations Organization, UN, U.N.
Africa | African, Africans
Asia | Asian
Europe | European, Europeans
Antarctica | Antarctic
North America | North American
South America | South American
Latin America | Latin American
"""


def _read_rows() -> tuple[dict[str, str], dict[str, str]]:
    names: dict[str, str] = {}
    adjectives: dict[str, str] = {}
    for row in _ROWS.strip().splitlines():
        own, _, others = row.partition("|")
        country = name_key(own.split(",")[0])
        names.update({name_key(name): country for name in own.split(",")})
        adjectives.update({name_key(name): country for name in others.split(",") if name.strip()})
    return names, adjectives


_NAMES, _ADJECTIVES = _read_rows()  # name key -> key of the leading name


def country_of(key: str) -> str:
    """The key of the leading name of the country that a name key or adjective means, or an empty string."""
    return _NAMES.get(key) or _ADJECTIVES.get(key, "")


def is_country_name(key: str) -> bool:
    """A name, not an adjective."""
    return key in _NAMES


def is_country_adjective(key: str) -> bool:
    """Most are names of languages, too."""
    return key in _ADJECTIVES
