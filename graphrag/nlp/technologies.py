"""Widely known technologies and what each of them is: a list of our own, and how its names are recognised in text.

A name matches whatever its hyphens, spaces, dots and case ("Node.js", "nodejs"), with a version behind it ("Python
3.11") and with its vendor before it ("Apache Kafka"). Names that are also English words, places or people (`AMBIGUOUS`)
match only with their capital, and only where the caller knows the text to be technical.
"""

from __future__ import annotations

from functools import lru_cache

import regex

from graphrag.nlp.lexicon import words

NAMES_OF_TYPE: dict[str, str] = {
    "database": (
        "PostgreSQL, Postgres, MySQL, MariaDB, SQLite, MongoDB, Mongo, DocumentDB, DynamoDB, Cassandra, ScyllaDB, "
        "CockroachDB, CouchDB, Couchbase, Neo4j, InfluxDB, TimescaleDB, ClickHouse, Snowflake, BigQuery, Redshift, "
        "Oracle Database, SQL Server, MSSQL, DuckDB, Firestore, Firebase, Aurora, RDS, Amazon RDS, HBase, Hive, "
        "Presto, Trino, Athena, Vertica, Teradata, Greenplum, RocksDB, LevelDB, LMDB, FoundationDB, TiDB, YugabyteDB, "
        "Spanner, Bigtable, Cosmos DB, Supabase, Pinecone, Weaviate, Milvus, Qdrant, pgvector, Druid, etcd, LanceDB, "
        "Db2, Firebird"
    ),
    "cache": "Redis, Valkey, Memcached, ElastiCache, KeyDB, Dragonfly, Hazelcast, Varnish",
    "message broker": (
        "Kafka, RabbitMQ, ActiveMQ, AmazonMQ, Amazon MQ, NATS, Pulsar, SQS, SNS, Amazon SQS, Amazon SNS, Kinesis, "
        "ZeroMQ, Mosquitto, EventBridge, Redpanda, Service Bus, Celery, Sidekiq, NSQ, Amazon MSK"
    ),
    "search engine": "Elasticsearch, OpenSearch, Solr, Lucene, Algolia, Meilisearch, Typesense",
    "language": (
        "Python, CPython, PyPy, Java, JavaScript, ECMAScript, TypeScript, Ruby, JRuby, Go, Golang, Rust, C++, C#, F#, "
        "Objective-C, Swift, Kotlin, Scala, PHP, Perl, Haskell, Erlang, Elixir, Clojure, Groovy, Lua, Julia, Dart, "
        "OCaml, Fortran, COBOL, Cython, SQL, Bash, PowerShell, HTML5, CSS, Sass, SCSS, PromQL, GraphQL, HCL, "
        "Markdown, LaTeX, Visual Basic, MATLAB, Prolog, Scheme, Racket, Zig, Nim, Elm, Ada, Pascal, VCL, WebAssembly"
    ),
    "cloud provider": (
        "AWS, Amazon Web Services, GCP, Google Cloud, Google Cloud Platform, Azure, Microsoft Azure, DigitalOcean, "
        "Hetzner, OVH, OVHcloud, Linode, Heroku, Netlify, Vercel, Fly.io, Scaleway, Rackspace, OpenStack, Oracle "
        "Cloud, Alibaba Cloud"
    ),
    "platform": (
        "Kubernetes, k8s, K3s, OpenShift, Docker Swarm, Nomad, Mesos, EKS, GKE, AKS, ECS, Fargate, Cloud Foundry, "
        "Rancher, Cloud Run, AWS Lambda, Elastic Kubernetes Service"
    ),
    "operating system": (
        "Linux, Windows, macOS, Mac OS X, iOS, Android, Debian, Ubuntu, Fedora, CentOS, RHEL, Red Hat Enterprise "
        "Linux, Alpine Linux, Arch Linux, Gentoo, SUSE, openSUSE, FreeBSD, OpenBSD, NetBSD, Solaris, AIX, Unix, Rocky "
        "Linux, AlmaLinux, Amazon Linux"
    ),
    "web server": (
        "Nginx, Apache HTTP Server, httpd, Caddy, Traefik, HAProxy, Envoy, Puma, Unicorn, Gunicorn, uWSGI, Tomcat, "
        "Jetty, Passenger, Uvicorn, Lighttpd, IIS"
    ),
    "storage": (
        "S3, Amazon S3, GCS, Google Cloud Storage, MinIO, Ceph, EBS, EFS, HDFS, NFS, Glacier, Azure Blob Storage"
    ),
    "network": (
        "CloudFront, Fastly, Cloudflare, Akamai, Route 53, Istio, Linkerd, Calico, Cilium, WireGuard, OpenVPN, "
        "CoreDNS, BIND, Consul"
    ),
    "protocol": (
        "gRPC, REST, SOAP, AMQP, MQTT, TCP, UDP, TLS, SSL, SSH, DNS, DHCP, SMTP, IMAP, FTP, SFTP, LDAP, SAML, OAuth, "
        "OAuth2, OpenID Connect, OIDC, Kerberos, WebSocket, WebSockets, Raft, Paxos, BGP, NTP, SCIM, WebRTC, IPsec, "
        "IPv4, IPv6, CalDAV, WebDAV, XMPP, RSS"
    ),
    "format": (
        "Avro, Protobuf, Protocol Buffers, Parquet, TOML, ORC, Thrift, MessagePack, UTF-8, UTF-16, UTF-32, ASCII, "
        "Unicode, OpenAPI, JSON Schema, SPDX, EPUB, GeoJSON"
    ),
    "library": (
        "Rails, Ruby on Rails, Django, Flask, FastAPI, Spring Boot, Spring, Hibernate, React, React Native, Angular, "
        "Vue, Vue.js, Svelte, Ember.js, jQuery, Express, Express.js, Next.js, Node.js, Deno, .NET, ASP.NET, Laravel, "
        "Symfony, Phoenix, NumPy, SciPy, pandas, Polars, PyTorch, TensorFlow, Keras, scikit-learn, Matplotlib, "
        "SQLAlchemy, Pydantic, ActiveRecord, Active Record, OpenSSL, LibreSSL, BoringSSL, RSpec, pytest, Jest, Mocha, "
        "Jasmine, JUnit, Sinatra, Bootstrap, Tailwind, Twisted, asyncio, aiohttp, Trio, Redux, Flutter, Qt, GTK, "
        "Electron, Log4j, Sprockets, LangChain, LlamaIndex, spaCy, attrs, Akka, Quarkus, Micronaut, setuptools, "
        "Guzzle, Pundit, Sequel, Celluloid"
    ),
    "tool": (
        "Docker, Podman, containerd, Terraform, Terraform Cloud, OpenTofu, Ansible, Puppet, Chef, SaltStack, Pulumi, "
        "Helm, Argo, Argo CD, Argo Workflows, ArgoCD, Flux, Jenkins, GitHub Actions, CircleCI, Travis CI, TeamCity, "
        "Buildkite, Prometheus, Alertmanager, Grafana, Loki, Jaeger, Zipkin, OpenTelemetry, Kibana, Logstash, "
        "Filebeat, Fluentd, Fluent Bit, Nagios, Zabbix, Icinga, StatsD, Graphite, Airflow, Spark, Flink, Hadoop, dbt, "
        "Beam, Dagster, Prefect, Luigi, Git, Subversion, Mercurial, npm, Yarn, pip, Poetry, Conda, Homebrew, Maven, "
        "Gradle, Bazel, CMake, GCC, Clang, LLVM, Webpack, Vite, Babel, ESLint, Prettier, RuboCop, Brakeman, "
        "Dependabot, Renovate, CodeQL, SonarQube, Snyk, Selenium, Cypress, Playwright, Vagrant, Packer, VirtualBox, "
        "Vault, HashiCorp Vault, AWS Secrets Manager, Keycloak, Dex, cert-manager, Karpenter, Patroni, PgBouncer, "
        "Jupyter, mypy, Pyright, Ruff, Pylint, Flake8, Sphinx, MkDocs, Emacs, Vim, Visual Studio Code, VS Code, "
        "Eclipse, IntelliJ, PyCharm, Postman, curl, k6, JMeter, Gatling, Harbor, Backstage, Metabase, Superset, "
        "Looker, Tableau, Power BI, Varnishtest, Wireshark, tmux, Chrome, Firefox, Safari, Kustomize, WordPress, "
        "Drupal, CKAN, Unleash, KEDA, MLflow, Ray, Kubeflow, Velero, Trivy, Falco, DataHub"
    ),
    "service": (
        "GitHub, GitLab, Bitbucket, Slack, Jira, Confluence, Trello, Notion, Zendesk, PagerDuty, Opsgenie, Pingdom, "
        "Sentry, Datadog, New Relic, Splunk, Logit, Logit.io, Statuspage, SendGrid, Mailchimp, Twilio, Stripe, "
        "PayPal, Okta, Auth0, CloudWatch, Amazon SES, KMS, AWS KMS, Cognito, Google Analytics, Salesforce, "
        "ServiceNow, Docker Hub, PyPI, RubyGems, npmjs, SpeedCurve, LaunchDarkly, Google Tag Manager, Google "
        "Workspace, Microsoft Teams, Zoom, Dropbox, Honeycomb, Rollbar, Bugsnag, YouTube, StackOverflow, Stack "
        "Overflow, GA4, BrowserStack, Terraform Registry"
    ),
    "organization": (
        "Google, Microsoft, Amazon, Apple, Facebook, Meta, Netflix, Oracle, IBM, Intel, Nvidia, AMD, Red Hat, "
        "HashiCorp, JetBrains, Canonical, Atlassian, SAP, VMware, Mozilla, Twitter, Uber, Airbnb, Spotify, LinkedIn, "
        "OpenAI, Anthropic, Apache Software Foundation, Python Software Foundation, CNCF, W3C, IETF, IANA, NIST, OWASP"
    ),
}
# Also English words, places or people: a type only with the capital, in technical text, and no proof of being a name.
AMBIGUOUS = words(
    "cassandra hive presto athena druid aurora spanner oracle pulsar celery redis nats java ruby go rust swift kotlin "
    "scala dart julia elm ada pascal scheme racket zig nim python bash groovy lua azure nomad windows debian gentoo "
    "unicorn puma passenger tomcat jetty caddy envoy glacier consul bind rest raft soap avro thrift orc rails django "
    "flask spring express react angular phoenix bootstrap jasmine mocha jest trio beam spark storm flux helm argo "
    "chef puppet vault harbor salt git yarn poetry dex prefect luigi grafana loki jaeger ruff sphinx eclipse safari "
    "chrome packer babel prettier renovate cypress slack sentry notion stripe zoom honeycomb apple amazon meta intel "
    "canonical oracle uber mercurial maven solaris graphite twisted sinatra electron hibernate symfony akka mosquitto "
    "snowflake dragonfly lighthouse backstage flutter vue conda superset looker tableau elixir bazel vagrant sequel "
    "pundit ray unleash velero falco pandas attrs fedora markdown android firefox unicode"
) - {"redis", "nats", "grafana", "django", "kotlin", "debian", "bazel", "markdown", "symfony"}
OTHERWISE_WORDS = frozenset(
    {"curl", "varnish", "markdown", "unix", "express", "clang", "fargate", "scheme", "symphony"}
)
# Words that may stand before a name without making it another thing.
VENDORS = ("apache ", "amazon ", "aws ", "google ", "microsoft ", "hashicorp ", "gnu ", "managed ")
VERSION_BEHIND = regex.compile(
    r"(?<=[\p{L}+#.]) v?\d+(?:\.\d+)*(?:\.x)?(?: ?(?:LTS|alpha|beta|rc\d*))?$|(?<=\p{L})-\d+(?:\.\d+)+$"
)
MARKS = regex.compile(r"[\s._-]+")


def fold_technology(text: str) -> str:
    return MARKS.sub("", text.casefold())


TYPE_OF_TECHNOLOGY: dict[str, str] = {
    fold_technology(name): kind for kind, names in NAMES_OF_TYPE.items() for name in names.split(", ")
}


@lru_cache(maxsize=100_000)
def technology_type(text: str, *, is_technical: bool = True) -> str:
    """What the technology of this name is; empty for a name that the list does not hold."""
    bare = VERSION_BEHIND.sub("", text.strip())
    forms = [bare] + [bare[len(vendor) :] for vendor in VENDORS if bare.casefold().startswith(vendor)]
    for form in [text.strip(), *forms]:
        fold = fold_technology(form)
        kind = TYPE_OF_TECHNOLOGY.get(fold, "")
        if kind and (fold not in AMBIGUOUS or (is_technical and any(c.isupper() for c in form))):
            return kind
    return ""


def is_small_technology(text: str) -> bool:
    """A technology written small that no English word is written like: etcd, dbt, postgres."""
    kind = TYPE_OF_TECHNOLOGY.get(text, "") if text.islower() else ""
    is_word = kind in {"", "protocol", "format", "organization"} or text in AMBIGUOUS | OTHERWISE_WORDS
    return not is_word and (len(text) > 3 or text in {"dbt", "k8s"})


def is_certain_technology(text: str) -> bool:
    """A word that means this technology and nothing else, so that is a name wherever it stands: Kafka."""
    fold = fold_technology(text)
    kind = TYPE_OF_TECHNOLOGY.get(fold, "")
    is_word = kind in {"", "protocol", "format"} or fold in AMBIGUOUS or text.islower()
    return not is_word and len(fold) > 2
