"""What is evaluated: a lacegram for us, and the same question in the words of each peer."""

from dataclasses import dataclass

from lacec.core.predicates import Predicate


@dataclass(frozen=True)
class Workload:
    name: str
    source: str
    output: Predicate
    sql: str
    asp: str
    asp_output: str


_SELECTED = Predicate("Selected", 1)

SELECTION = Workload(
    "selection",
    "Selected(P) :- Have(P), Field(P,'Group',_,'u'), Field(P,'App',_,'ding'), "
    "Field(P,'Name',_,K), TextShape(K,'links/','','').",
    _SELECTED,
    "select distinct h.p from have h join f_group g using (p) join f_app a using (p) "
    "join f_name k using (p) where g.v = {u} and a.v = {ding} and starts_with(k.s, 'links/')",
    "selected(P) :- have(P), group(P,{u}), app(P,{ding}), name(P,K), links(K).",
    "selected",
)
MEMBERSHIP = Workload(
    "membership",
    "Member(V) :- Have(P), Field(P,'Group',_,'keys'), Field(P,'App',_,'member'), "
    "Field(P,'Name',_,V).\n"
    "Blocked(V) :- Have(P), Field(P,'Group',_,'keys'), Field(P,'App',_,'blocked'), "
    "Field(P,'Name',_,V).\n"
    "Selected(P) :- Have(P), Field(P,'Group',_,'u'), Field(P,'Signed-By',_,V), Member(V), "
    "not Blocked(V).",
    _SELECTED,
    "with keyed as (select k.v v, a.v a from have h join f_group g using (p) join f_app a using "
    "(p) join f_name k using (p) where g.v = {keys}) "
    "select distinct h.p from have h join f_group g using (p) join f_signer s using (p) "
    "where g.v = {u} and s.v in (select v from keyed where a = {member}) "
    "and s.v not in (select v from keyed where a = {blocked})",
    "member(V) :- have(P), group(P,{keys}), app(P,{member}), name(P,V). "
    "blocked(V) :- have(P), group(P,{keys}), app(P,{blocked}), name(P,V). "
    "selected(P) :- have(P), group(P,{u}), signer(P,V), member(V), not blocked(V).",
    "selected",
)
SUPPORT = Workload(
    "support closure",
    "Root(P) :- Have(P), Field(P,'Group',_,'keys'), Field(P,'App',_,'blocked').\n"
    "Support(P) :- Root(P).\n"
    "Support(T) :- Support(P), RecordLink(P,'+Link',_,'evidence',T).",
    Predicate("Support", 1),
    "with recursive support(p) as (select h.p from have h join f_group g using (p) join f_app a "
    "using (p) where g.v = {keys} and a.v = {blocked} union "
    "select l.t from support join link l using (p)) select p from support",
    "support(P) :- have(P), group(P,{keys}), app(P,{blocked}). "
    "support(T) :- support(P), link(P,T).",
    "support",
)
CLOSURE = Workload(
    "transitive closure",
    "Path(X,Y) :- Edge(X,Y).\nPath(X,Z) :- Path(X,Y), Edge(Y,Z).",
    Predicate("Path", 2),
    "with recursive path(x, y) as (select x, y from edge union "
    "select path.x, edge.y from path join edge on path.y = edge.x) select x p, y from path",
    "path(X,Y) :- edge(X,Y). path(X,Z) :- path(X,Y), edge(Y,Z).",
    "path",
)
LATEST = Workload(
    "latest 100",
    "Candidate(P,T) :- Recent(P), Field(P,'TAI',_,T).\n"
    "Newer(P,Q) :- Candidate(P,T), Candidate(Q,T), LexCompare(Q,'>',P).\n"
    "Newer(P,Q) :- Candidate(P,TP), Candidate(Q,TQ), LexCompare(TQ,'>',TP).\n"
    "Latest(P) :- Candidate(P,_), Cardinality(Newer(P,_),'<','100').",
    Predicate("Latest", 1),
    "select p from (select p, row_number() over (order by t.s desc, h.s desc) n "
    "from recent h join f_tai t using (p)) where n <= 100",
    "",
    "",
)
LATEST_OF_ALL = Workload(
    "latest 100 of all",
    LATEST.source.replace("Recent(P)", "Have(P)"),
    LATEST.output,
    "select p from (select p, row_number() over (order by t.s desc) n "
    "from have join f_tai t using (p)) where n <= 100",
    "",
    "",
)
WORKLOADS = (SELECTION, MEMBERSHIP, SUPPORT, CLOSURE, LATEST)
# The numbers that the queries of the peers name.
NAMED = ("u", "ding", "keys", "member", "blocked")
# A policy as people write them, for the cost of small inputs.
SMALL = (
    "Link(P) :- Have(P), Field(P,'Group',_,'u'), Field(P,'Name',_,K), "
    "TextShape(K,'links/','','').\n"
    "Blocked(V) :- Have(P), Field(P,'Group',_,'keys'), Field(P,'App',_,'blocked'), "
    "Field(P,'Name',_,V).\n"
    "Selected(P) :- Link(P), Field(P,'Signed-By',_,V), not Blocked(V).\n"
    "Support(P) :- Selected(P).\n"
    "Support(T) :- Support(P), RecordLink(P,'+Link',_,'evidence',T).\n"
)
