"""The resources through the provider plugin.

`pulumi package add` makes a typed SDK from the plugin's schema; a program can also name the types itself, as here.
"""
import pulumi


def resource(kind: str, name: str, **properties) -> pulumi.CustomResource:
    """One resource; what is only known after the create is named, so that it becomes an output."""
    outputs = {"floatingIp": None, "privateIp": None} if kind == "Vm" else {}
    return pulumi.CustomResource(f"reconcile-cloud:index:{kind}", name, {**outputs, **properties})


db = resource(
    "Vm",
    "db-1",
    flavorId="m1.small",
    imageId="ubuntu-24.04",
    owner="ops@acme.example",
    userId="1042",
    project="acme",
    region="in-west-1",
    size=10,
)
data = resource("Volume", "db-data", size=20, flush={"via": "stop"})
resource("VolumeAttachment", "attached", vmId=db.id, volumeId=data.id, flush={"via": "stop"})
web = resource(
    "SecurityGroup",
    "web-group",
    rules=[
        {"protocol": "tcp", "dstPort": "443", "remoteIp": "0.0.0.0/0"},
        {"protocol": "tcp", "dstPort": "5432", "remoteGroup": "self"},
    ],
)

pulumi.export("database", db.id)
pulumi.export("group", web.id)
