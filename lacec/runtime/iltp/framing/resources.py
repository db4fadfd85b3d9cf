"""Resources (060): whether the bytes of one are canonical and what its identifier says.

In: a resource as it came. Out: nothing, or a StreamError. Bytes that are not canonical are
refused, never made canonical.
"""

from lacec.canonical.identifiers import lacegram_id, plan_id
from lacec.core.errors import CompileError, PlanError, StreamError
from lacec.core.facets import Facet
from lacec.core.limits import Limits
from lacec.core.origins import Origin
from lacec.pipeline import compile_module
from lacec.plan.transcript import read_transcript
from lacec.runtime.iltp.framing.items import Resource
from lacec.runtime.iltp.framing.rules import LACEGRAM


def check_resource(resource: Resource, limits: Limits) -> None:
    """Raise unless the resource is canonical (030, 040), and its identifier its own."""
    text = resource.data.decode("utf-8")
    # The cheap check first: what has another identifier is not worth a closer look.
    found = lacegram_id(text) if resource.kind == LACEGRAM else plan_id(text)
    if found != resource.id:
        message = f"the bytes of {resource.id} have the identifier {found}"
        raise _resource_error("wrong-identifier", resource, message)
    try:
        if resource.kind == LACEGRAM:
            _check_lacegram(text, limits)
        else:
            read_transcript(resource.data, limits)
    except (CompileError, PlanError) as error:
        message = f"{resource.id} is not canonical: {str(error).splitlines()[0]}"
        raise _resource_error("not-canonical", resource, message) from None


def _check_lacegram(text: str, limits: Limits) -> None:
    module = compile_module([("resource", text)], Facet.PLAIN, limits.of(Origin.PEER))
    if module.canonical != text:
        raise PlanError("not-canonical", "its lines are not sorted, each once, in canonical form")


def _resource_error(name: str, resource: Resource, message: str) -> StreamError:
    help = "send the canonical text, as `lacec compile` prints it"
    return StreamError(name, resource.offset, message, help, "malformed-exchange-module")
