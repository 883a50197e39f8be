// Made by scripts/generate-provider.mjs from the table of handlers; do not edit.
export const schema: Readonly<Record<string, unknown>> = {
  "name": "reconcile-cloud",
  "displayName": "reconcile-cloud",
  "version": "",
  "description": "Virtual machines, block volumes and security groups, reconciled",
  "keywords": [
    "pulumi",
    "category/cloud",
    "kind/native",
    "virtual-machines"
  ],
  "license": "Apache-2.0",
  "publisher": "reconcile-cloud",
  "homepage": "https://github.com/reconcile-cloud/reconcile-cloud",
  "repository": "https://github.com/reconcile-cloud/reconcile-cloud",
  "logoUrl": "https://raw.githubusercontent.com/reconcile-cloud/reconcile-cloud/main/docs/pictures/logo.png",
  "pluginDownloadURL": "github://api.github.com/reconcile-cloud/reconcile-cloud",
  "meta": {
    "supportPack": true
  },
  "config": {
    "variables": {
      "baseUrl": {
        "type": "string",
        "description": "embedded, or the URL of the service; else RECONCILE_BASE_URL.",
        "defaultInfo": {
          "environment": [
            "RECONCILE_BASE_URL"
          ]
        }
      },
      "dialect": {
        "type": "string",
        "description": "The path of a dialect, or the dialect as JSON; else RECONCILE_DIALECT.",
        "defaultInfo": {
          "environment": [
            "RECONCILE_DIALECT"
          ]
        }
      },
      "timing": {
        "type": "string",
        "description": "How long to wait, as JSON, with the names that a file has."
      },
      "token": {
        "type": "string",
        "description": "The token; better left to RECONCILE_TOKEN, which is in no state.",
        "secret": true
      },
      "authorization": {
        "type": "string",
        "description": "The whole Authorization value; better left to RECONCILE_AUTHORIZATION.",
        "secret": true
      },
      "insecureHttp": {
        "type": "boolean",
        "description": "Permits plain http to another host than this one."
      },
      "parallelism": {
        "type": "integer",
        "description": "Requests at once, at most; 10 when left out."
      },
      "timeScale": {
        "type": "number",
        "description": "How much faster than the real one the embedded service is."
      },
      "acceptService": {
        "type": "boolean",
        "description": "The service has moved to this address: what the state knows of the former one holds here."
      }
    }
  },
  "provider": {
    "description": "Which service, and how to speak to it.",
    "inputProperties": {
      "baseUrl": {
        "type": "string",
        "description": "embedded, or the URL of the service; else RECONCILE_BASE_URL.",
        "defaultInfo": {
          "environment": [
            "RECONCILE_BASE_URL"
          ]
        }
      },
      "dialect": {
        "type": "string",
        "description": "The path of a dialect, or the dialect as JSON; else RECONCILE_DIALECT.",
        "defaultInfo": {
          "environment": [
            "RECONCILE_DIALECT"
          ]
        }
      },
      "timing": {
        "type": "string",
        "description": "How long to wait, as JSON, with the names that a file has."
      },
      "token": {
        "type": "string",
        "description": "The token; better left to RECONCILE_TOKEN, which is in no state.",
        "secret": true
      },
      "authorization": {
        "type": "string",
        "description": "The whole Authorization value; better left to RECONCILE_AUTHORIZATION.",
        "secret": true
      },
      "insecureHttp": {
        "type": "boolean",
        "description": "Permits plain http to another host than this one."
      },
      "parallelism": {
        "type": "integer",
        "description": "Requests at once, at most; 10 when left out."
      },
      "timeScale": {
        "type": "number",
        "description": "How much faster than the real one the embedded service is."
      },
      "acceptService": {
        "type": "boolean",
        "description": "The service has moved to this address: what the state knows of the former one holds here."
      }
    }
  },
  "types": {
    "reconcile-cloud:index:VmPower": {
      "type": "string",
      "enum": [
        {
          "value": "running"
        },
        {
          "value": "stopped"
        }
      ]
    },
    "reconcile-cloud:index:VmFlushVia": {
      "type": "string",
      "enum": [
        {
          "value": "ask"
        },
        {
          "value": "command"
        },
        {
          "value": "stop"
        }
      ]
    },
    "reconcile-cloud:index:VmFlush": {
      "type": "object",
      "description": "What may stand behind the confirmation that a volume was flushed before it is detached: ask (flushConfirmed, the default), command (a program that flushes it), or stop (the VM is stopped meanwhile).",
      "properties": {
        "via": {
          "$ref": "#/types/reconcile-cloud:index:VmFlushVia",
          "description": "ask, command or stop."
        },
        "command": {
          "type": "array",
          "items": {
            "type": "string"
          },
          "description": "The program and its arguments, for via: command. It runs on the machine that runs the program."
        },
        "env": {
          "type": "array",
          "items": {
            "type": "string"
          },
          "description": "Variables of this machine that it gets besides PATH, HOME, LANG, TZ, TMPDIR and the RECONCILE_ values."
        }
      },
      "required": []
    },
    "reconcile-cloud:index:VmAfterReadyAgain": {
      "type": "string",
      "enum": [
        {
          "value": "when_changed"
        }
      ]
    },
    "reconcile-cloud:index:VmAfterReady": {
      "type": "object",
      "description": "A command that is owed after the VM was made, replaced or rebuilt, until it ended with 0; an update that follows runs what is still owed.",
      "properties": {
        "command": {
          "type": "array",
          "items": {
            "type": "string"
          },
          "description": "The program and its arguments. It runs on the machine that runs the program, and may run twice."
        },
        "timeout": {
          "type": "string",
          "description": "How long it may take, such as 5m; then it is ended and stays owed."
        },
        "env": {
          "type": "array",
          "items": {
            "type": "string"
          },
          "description": "Variables of this machine that it gets besides PATH, HOME, LANG, TZ, TMPDIR and the RECONCILE_ values."
        },
        "again": {
          "$ref": "#/types/reconcile-cloud:index:VmAfterReadyAgain",
          "description": "when_changed: another command text makes it owed again."
        }
      },
      "required": [
        "command"
      ]
    },
    "reconcile-cloud:index:VmAfterAttachAgain": {
      "type": "string",
      "enum": [
        {
          "value": "when_changed"
        }
      ]
    },
    "reconcile-cloud:index:VmAfterAttach": {
      "type": "object",
      "description": "A command that is owed after the VM's own data volume was attached or grew, until it ended with 0; an update that follows runs what is still owed.",
      "properties": {
        "command": {
          "type": "array",
          "items": {
            "type": "string"
          },
          "description": "The program and its arguments. It runs on the machine that runs the program, and may run twice."
        },
        "timeout": {
          "type": "string",
          "description": "How long it may take, such as 5m; then it is ended and stays owed."
        },
        "env": {
          "type": "array",
          "items": {
            "type": "string"
          },
          "description": "Variables of this machine that it gets besides PATH, HOME, LANG, TZ, TMPDIR and the RECONCILE_ values."
        },
        "again": {
          "$ref": "#/types/reconcile-cloud:index:VmAfterAttachAgain",
          "description": "when_changed: another command text makes it owed again."
        }
      },
      "required": [
        "command"
      ]
    },
    "reconcile-cloud:index:VmOnImageChange": {
      "type": "string",
      "enum": [
        {
          "value": "rebuild"
        },
        {
          "value": "replace"
        },
        {
          "value": "ignore"
        }
      ]
    },
    "reconcile-cloud:index:VmSnapshotBefore": {
      "type": "string",
      "enum": [
        {
          "value": "rebuild"
        },
        {
          "value": "resize"
        },
        {
          "value": "delete"
        }
      ]
    },
    "reconcile-cloud:index:VmPreservedVolumes": {
      "type": "string",
      "enum": [
        {
          "value": "retain"
        },
        {
          "value": "delete"
        }
      ]
    },
    "reconcile-cloud:index:VmVerifyResizeConfirm": {
      "type": "string",
      "enum": [
        {
          "value": "auto"
        },
        {
          "value": "manual"
        }
      ]
    },
    "reconcile-cloud:index:VmVerifyResizeCheck": {
      "type": "object",
      "description": "One of tcp, http and command.",
      "properties": {
        "tcp": {
          "type": "integer",
          "description": "A port that must accept a connection."
        },
        "http": {
          "type": "string",
          "description": "A URL that must answer with success; {ip} is the VM's address."
        },
        "command": {
          "type": "array",
          "items": {
            "type": "string"
          },
          "description": "A program that must end with 0; {ip} is the VM's address."
        },
        "env": {
          "type": "array",
          "items": {
            "type": "string"
          },
          "description": "Variables of this machine that it gets besides PATH, HOME, LANG, TZ, TMPDIR and the RECONCILE_ values."
        }
      },
      "required": []
    },
    "reconcile-cloud:index:VmVerifyResizeOnFailure": {
      "type": "string",
      "enum": [
        {
          "value": "revert"
        },
        {
          "value": "leave"
        }
      ]
    },
    "reconcile-cloud:index:VmVerifyResize": {
      "type": "object",
      "description": "How a resize is decided that waits in VERIFY_RESIZE: confirmed once the check passes, reverted when it does not.",
      "properties": {
        "confirm": {
          "$ref": "#/types/reconcile-cloud:index:VmVerifyResizeConfirm",
          "description": "auto (the default), or manual: somebody decides it outside."
        },
        "check": {
          "$ref": "#/types/reconcile-cloud:index:VmVerifyResizeCheck",
          "description": "One of tcp, http and command."
        },
        "timeout": {
          "type": "string",
          "description": "How long the check may take, such as 2m, which is the default."
        },
        "onFailure": {
          "$ref": "#/types/reconcile-cloud:index:VmVerifyResizeOnFailure",
          "description": "What a failed check leads to: revert (the default) or leave."
        }
      },
      "required": []
    },
    "reconcile-cloud:index:VolumeFlushVia": {
      "type": "string",
      "enum": [
        {
          "value": "ask"
        },
        {
          "value": "command"
        },
        {
          "value": "stop"
        }
      ]
    },
    "reconcile-cloud:index:VolumeFlush": {
      "type": "object",
      "description": "What may stand behind the confirmation that a volume was flushed before it is detached: ask (flushConfirmed, the default), command (a program that flushes it), or stop (the VM is stopped meanwhile).",
      "properties": {
        "via": {
          "$ref": "#/types/reconcile-cloud:index:VolumeFlushVia",
          "description": "ask, command or stop."
        },
        "command": {
          "type": "array",
          "items": {
            "type": "string"
          },
          "description": "The program and its arguments, for via: command. It runs on the machine that runs the program."
        },
        "env": {
          "type": "array",
          "items": {
            "type": "string"
          },
          "description": "Variables of this machine that it gets besides PATH, HOME, LANG, TZ, TMPDIR and the RECONCILE_ values."
        }
      },
      "required": []
    },
    "reconcile-cloud:index:VolumeAttachmentFlushVia": {
      "type": "string",
      "enum": [
        {
          "value": "ask"
        },
        {
          "value": "command"
        },
        {
          "value": "stop"
        }
      ]
    },
    "reconcile-cloud:index:VolumeAttachmentFlush": {
      "type": "object",
      "description": "What may stand behind the confirmation that a volume was flushed before it is detached: ask (flushConfirmed, the default), command (a program that flushes it), or stop (the VM is stopped meanwhile).",
      "properties": {
        "via": {
          "$ref": "#/types/reconcile-cloud:index:VolumeAttachmentFlushVia",
          "description": "ask, command or stop."
        },
        "command": {
          "type": "array",
          "items": {
            "type": "string"
          },
          "description": "The program and its arguments, for via: command. It runs on the machine that runs the program."
        },
        "env": {
          "type": "array",
          "items": {
            "type": "string"
          },
          "description": "Variables of this machine that it gets besides PATH, HOME, LANG, TZ, TMPDIR and the RECONCILE_ values."
        }
      },
      "required": []
    },
    "reconcile-cloud:index:VolumeAttachmentAfterAttachAgain": {
      "type": "string",
      "enum": [
        {
          "value": "when_changed"
        }
      ]
    },
    "reconcile-cloud:index:VolumeAttachmentAfterAttach": {
      "type": "object",
      "description": "A command that is owed after the volume was attached or grew, or the VM was rebuilt, until it ended with 0; an update that follows runs what is still owed.",
      "properties": {
        "command": {
          "type": "array",
          "items": {
            "type": "string"
          },
          "description": "The program and its arguments. It runs on the machine that runs the program, and may run twice."
        },
        "timeout": {
          "type": "string",
          "description": "How long it may take, such as 5m; then it is ended and stays owed."
        },
        "env": {
          "type": "array",
          "items": {
            "type": "string"
          },
          "description": "Variables of this machine that it gets besides PATH, HOME, LANG, TZ, TMPDIR and the RECONCILE_ values."
        },
        "again": {
          "$ref": "#/types/reconcile-cloud:index:VolumeAttachmentAfterAttachAgain",
          "description": "when_changed: another command text makes it owed again."
        }
      },
      "required": [
        "command"
      ]
    },
    "reconcile-cloud:index:SecurityGroupRulesItemDirection": {
      "type": "string",
      "enum": [
        {
          "value": "ingress"
        },
        {
          "value": "egress"
        }
      ]
    },
    "reconcile-cloud:index:SecurityGroupRulesItemEthertype": {
      "type": "string",
      "enum": [
        {
          "value": "IPv4"
        },
        {
          "value": "IPv6"
        }
      ]
    },
    "reconcile-cloud:index:SecurityGroupRulesItemProtocol": {
      "type": "string",
      "enum": [
        {
          "value": "tcp"
        },
        {
          "value": "udp"
        },
        {
          "value": "icmp"
        },
        {
          "value": "any"
        }
      ]
    },
    "reconcile-cloud:index:SecurityGroupRulesItem": {
      "type": "object",
      "description": "A rule.",
      "properties": {
        "direction": {
          "$ref": "#/types/reconcile-cloud:index:SecurityGroupRulesItemDirection",
          "description": "ingress (the default) or egress."
        },
        "ethertype": {
          "$ref": "#/types/reconcile-cloud:index:SecurityGroupRulesItemEthertype",
          "description": "IPv4 (the default) or IPv6; follows remoteIp."
        },
        "protocol": {
          "$ref": "#/types/reconcile-cloud:index:SecurityGroupRulesItemProtocol",
          "description": "tcp, udp, icmp, or any when left out."
        },
        "dstPort": {
          "type": "string",
          "description": "The port, or a range such as 8000-8010 where the service knows ranges. All ports when left out."
        },
        "remoteIp": {
          "type": "string",
          "description": "A CIDR. Left out, and without remoteGroup: everyone."
        },
        "remoteGroup": {
          "type": "string",
          "description": "The id of another security group; self means the group the rule is in. Use this or remoteIp."
        },
        "description": {
          "type": "string",
          "description": "Free text, stored with the rule when it is made."
        }
      },
      "required": []
    },
    "reconcile-cloud:index:SecurityGroupRulesMode": {
      "type": "string",
      "enum": [
        {
          "value": "authoritative"
        },
        {
          "value": "additive"
        },
        {
          "value": "shared"
        }
      ]
    },
    "reconcile-cloud:index:SecurityGroupOnRuleRemoval": {
      "type": "string",
      "enum": [
        {
          "value": "replace"
        },
        {
          "value": "keep"
        }
      ]
    },
    "reconcile-cloud:index:SecurityGroupRuleDirection": {
      "type": "string",
      "enum": [
        {
          "value": "ingress"
        },
        {
          "value": "egress"
        }
      ]
    },
    "reconcile-cloud:index:SecurityGroupRuleEthertype": {
      "type": "string",
      "enum": [
        {
          "value": "IPv4"
        },
        {
          "value": "IPv6"
        }
      ]
    },
    "reconcile-cloud:index:SecurityGroupRuleProtocol": {
      "type": "string",
      "enum": [
        {
          "value": "tcp"
        },
        {
          "value": "udp"
        },
        {
          "value": "icmp"
        },
        {
          "value": "any"
        }
      ]
    },
    "reconcile-cloud:index:SecurityGroupRuleOnRuleRemoval": {
      "type": "string",
      "enum": [
        {
          "value": "fail"
        },
        {
          "value": "keep"
        }
      ]
    },
    "reconcile-cloud:index:DesiredStateAddressesItem": {
      "type": "object",
      "description": "Where a VM is reached.",
      "properties": {
        "floatingIp": {
          "type": "string",
          "description": "Its public address."
        },
        "privateIp": {
          "type": "string",
          "description": "Its address in the private network."
        }
      },
      "required": []
    },
    "reconcile-cloud:index:VmWithVolumesVolumesItem": {
      "type": "object",
      "description": "A volume that is attached to the VM.",
      "properties": {
        "name": {
          "type": "string",
          "description": "The volume's name. Left out, the VM's name and the volume's key."
        },
        "size": {
          "type": "integer",
          "description": "Size in GB."
        },
        "flush": {
          "$ref": "#/types/reconcile-cloud:index:VmFlush",
          "description": "What may stand behind the confirmation that a volume was flushed before it is detached: ask (flushConfirmed, the default), command (a program that flushes it), or stop (the VM is stopped meanwhile)."
        },
        "flushConfirmed": {
          "type": "boolean",
          "description": "You state that the volume was unmounted or synced inside the guest, so that it may be detached. Kept with the resource: set it before the change that detaches."
        }
      },
      "required": [
        "size"
      ]
    },
    "reconcile-cloud:index:SecurityGroupSetGroupsItem": {
      "type": "object",
      "description": "A group and its rules.",
      "properties": {
        "name": {
          "type": "string",
          "description": "The group's name. Left out, the set's name and the group's key."
        },
        "description": {
          "type": "string",
          "description": "Free text."
        },
        "rules": {
          "type": "array",
          "items": {
            "$ref": "#/types/reconcile-cloud:index:SecurityGroupRulesItem"
          },
          "description": "What is admitted. Created with the group in one request, but for rules that name the group itself."
        }
      },
      "required": []
    },
    "reconcile-cloud:index:GetSecurityGroupResultRulesItemDirection": {
      "type": "string",
      "enum": [
        {
          "value": "ingress"
        },
        {
          "value": "egress"
        }
      ]
    },
    "reconcile-cloud:index:GetSecurityGroupResultRulesItemEthertype": {
      "type": "string",
      "enum": [
        {
          "value": "IPv4"
        },
        {
          "value": "IPv6"
        }
      ]
    },
    "reconcile-cloud:index:GetSecurityGroupResultRulesItemProtocol": {
      "type": "string",
      "enum": [
        {
          "value": "tcp"
        },
        {
          "value": "udp"
        },
        {
          "value": "icmp"
        },
        {
          "value": "any"
        }
      ]
    },
    "reconcile-cloud:index:GetSecurityGroupResultRulesItem": {
      "type": "object",
      "description": "One rule.",
      "properties": {
        "id": {
          "type": "string",
          "description": "Its id in the group."
        },
        "direction": {
          "$ref": "#/types/reconcile-cloud:index:GetSecurityGroupResultRulesItemDirection",
          "description": "ingress (the default) or egress."
        },
        "ethertype": {
          "$ref": "#/types/reconcile-cloud:index:GetSecurityGroupResultRulesItemEthertype",
          "description": "IPv4 (the default) or IPv6; follows remoteIp."
        },
        "protocol": {
          "$ref": "#/types/reconcile-cloud:index:GetSecurityGroupResultRulesItemProtocol",
          "description": "tcp, udp, icmp, or any when left out."
        },
        "dstPort": {
          "type": "string",
          "description": "The port, or a range such as 8000-8010 where the service knows ranges. All ports when left out."
        },
        "remoteIp": {
          "type": "string",
          "description": "A CIDR. Left out, and without remoteGroup: everyone."
        },
        "remoteGroup": {
          "type": "string",
          "description": "The id of another security group; self means the group the rule is in. Use this or remoteIp."
        },
        "description": {
          "type": "string",
          "description": "Free text, stored with the rule when it is made."
        }
      },
      "required": [
        "id"
      ]
    },
    "reconcile-cloud:index:GetFlavorsResultFlavorsItem": {
      "type": "object",
      "description": "One flavor.",
      "properties": {
        "id": {
          "type": "string",
          "description": "Its id."
        },
        "name": {
          "type": "string",
          "description": "Its name."
        }
      },
      "required": [
        "id"
      ]
    },
    "reconcile-cloud:index:GetImagesResultImagesItem": {
      "type": "object",
      "description": "One image.",
      "properties": {
        "id": {
          "type": "string",
          "description": "Its id."
        },
        "name": {
          "type": "string",
          "description": "Its name."
        }
      },
      "required": [
        "id"
      ]
    },
    "reconcile-cloud:index:GetRegionsResultRegionsItem": {
      "type": "object",
      "description": "One region.",
      "properties": {
        "id": {
          "type": "string",
          "description": "Its id."
        },
        "name": {
          "type": "string",
          "description": "Its name."
        }
      },
      "required": [
        "id"
      ]
    },
    "reconcile-cloud:index:GetVmsResultVmsItem": {
      "type": "object",
      "description": "One VM.",
      "properties": {
        "id": {
          "type": "string",
          "description": "Its id."
        },
        "name": {
          "type": "string",
          "description": "Its name."
        },
        "status": {
          "type": "string",
          "description": "Its state, in the service's own word."
        },
        "flavorId": {
          "type": "string",
          "description": "Its flavor."
        },
        "imageId": {
          "type": "string",
          "description": "Its image."
        },
        "owner": {
          "type": "string",
          "description": "Its owner."
        },
        "floatingIp": {
          "type": "string",
          "description": "Its public address."
        },
        "privateIp": {
          "type": "string",
          "description": "Its address in the private network."
        },
        "volumeIds": {
          "type": "array",
          "items": {
            "type": "string"
          },
          "description": "All its volumes, the root disk among them."
        },
        "rootVolumeId": {
          "type": "string",
          "description": "The root disk, where the service shows which of the volumes it is."
        }
      },
      "required": [
        "id"
      ]
    },
    "reconcile-cloud:index:GetVolumesResultVolumesItem": {
      "type": "object",
      "description": "One volume.",
      "properties": {
        "id": {
          "type": "string",
          "description": "Its id."
        },
        "name": {
          "type": "string",
          "description": "Its name."
        },
        "size": {
          "type": "integer",
          "description": "Its size in GB."
        },
        "status": {
          "type": "string",
          "description": "Its state, in the service's own word."
        },
        "vmId": {
          "type": "string",
          "description": "The VM that it is attached to."
        }
      },
      "required": [
        "id"
      ]
    },
    "reconcile-cloud:index:GetSecurityGroupsResultSecurityGroupsItem": {
      "type": "object",
      "description": "One security group.",
      "properties": {
        "id": {
          "type": "string",
          "description": "Its id."
        },
        "name": {
          "type": "string",
          "description": "Its name."
        },
        "description": {
          "type": "string",
          "description": "Its description."
        }
      },
      "required": [
        "id"
      ]
    }
  },
  "resources": {
    "reconcile-cloud:index:Vm": {
      "description": "A virtual machine. Renamed, resized (with the decision about VERIFY_RESIZE), rebuilt, started and stopped in place; what the service cannot change replaces it.\n\n{{% examples %}}\n## Example Usage\n{{% example %}}\n### A virtual machine\n\n```typescript\nimport * as cloud from \"@reconcile-cloud/pulumi\";\n\nconst web = new cloud.Vm(\"web\", {\n    flavorId: \"m1.small\",\n    imageId: \"ubuntu-24.04\",\n    owner: \"ops@acme.example\",\n    userId: \"1042\",\n    project: \"acme\",\n    region: \"in-west-1\",\n    size: 10,\n});\n```\n```python\nimport pulumi_reconcile_cloud as cloud\n\nweb = cloud.Vm(\"web\",\n    flavor_id=\"m1.small\",\n    image_id=\"ubuntu-24.04\",\n    owner=\"ops@acme.example\",\n    user_id=\"1042\",\n    project=\"acme\",\n    region=\"in-west-1\",\n    size=10,\n)\n```\n```go\npackage main\n\nimport (\n\t\"github.com/pulumi/pulumi/sdk/v3/go/pulumi\"\n\t\"github.com/reconcile-cloud/reconcile-cloud/sdk/go/reconcilecloud\"\n)\n\nfunc main() {\n\tpulumi.Run(func(ctx *pulumi.Context) error {\n\t\t_, err := reconcilecloud.NewVm(ctx, \"web\", &reconcilecloud.VmArgs{\n\t\t\tFlavorId: pulumi.String(\"m1.small\"),\n\t\t\tImageId: pulumi.String(\"ubuntu-24.04\"),\n\t\t\tOwner: pulumi.String(\"ops@acme.example\"),\n\t\t\tUserId: pulumi.String(\"1042\"),\n\t\t\tProject: pulumi.String(\"acme\"),\n\t\t\tRegion: pulumi.String(\"in-west-1\"),\n\t\t\tSize: pulumi.Int(10),\n\t\t})\n\t\tif err != nil {\n\t\t\treturn err\n\t\t}\n\t\treturn nil\n\t})\n}\n```\n```csharp\nusing Pulumi;\nusing Cloud = ReconcileCloud.ReconcileCloud;\n\nreturn await Deployment.RunAsync(() =>\n{\n    var web = new Cloud.Vm(\"web\", new()\n    {\n        FlavorId = \"m1.small\",\n        ImageId = \"ubuntu-24.04\",\n        Owner = \"ops@acme.example\",\n        UserId = \"1042\",\n        Project = \"acme\",\n        Region = \"in-west-1\",\n        Size = 10,\n    });\n});\n```\n```java\nimport com.pulumi.Pulumi;\nimport cloud.reconcile.reconcilecloud.*;\nimport cloud.reconcile.reconcilecloud.enums.*;\nimport cloud.reconcile.reconcilecloud.inputs.*;\nimport java.util.Map;\n\npublic class App {\n    public static void main(String[] args) {\n        Pulumi.run(ctx -> {\n            var web = new Vm(\"web\", VmArgs.builder()\n                .flavorId(\"m1.small\")\n                .imageId(\"ubuntu-24.04\")\n                .owner(\"ops@acme.example\")\n                .userId(\"1042\")\n                .project(\"acme\")\n                .region(\"in-west-1\")\n                .size(10)\n                .build());\n        });\n    }\n}\n```\n```yaml\nresources:\n  web:\n    type: reconcile-cloud:Vm\n    properties:\n      flavorId: \"m1.small\"\n      imageId: \"ubuntu-24.04\"\n      owner: \"ops@acme.example\"\n      userId: \"1042\"\n      project: \"acme\"\n      region: \"in-west-1\"\n      size: 10\n```\n{{% /example %}}\n{{% /examples %}}\n\n## Import\n\nAn existing one is imported by the id of the VM:\n\n```sh\n$ pulumi import reconcile-cloud:index:Vm example 0b5c3a1e-5b7e-4d0c-9a53-8f0a3a5f9d11\n```",
      "inputProperties": {
        "name": {
          "type": "string",
          "description": "3 to 50 characters of a-z, 0-9 and hyphen; upper case is lower-cased. Left out, the resource's own name."
        },
        "flavorId": {
          "type": "string",
          "description": "Flavor name or id; both are the same flavor. A change resizes in place."
        },
        "imageId": {
          "type": "string",
          "description": "Image id, or a name that the service's list resolves. A change rebuilds the VM and wipes its root disk; see onImageChange."
        },
        "owner": {
          "type": "string",
          "description": "Username or e-mail address; the service stores the e-mail, so a username is never a difference.",
          "willReplaceOnChanges": true
        },
        "userId": {
          "type": "string",
          "description": "Your user id in the service. Needed to create one.",
          "willReplaceOnChanges": true
        },
        "project": {
          "type": "string",
          "description": "The project to build in. Needed to create one.",
          "willReplaceOnChanges": true
        },
        "region": {
          "type": "string",
          "description": "The region to build in. Needed to create one.",
          "willReplaceOnChanges": true
        },
        "rootSize": {
          "type": "integer",
          "description": "Root disk in GB; 50 when left out. Cannot be changed.",
          "willReplaceOnChanges": true
        },
        "size": {
          "type": "integer",
          "description": "Data volume in GB, at least 1. Grows in place, which detaches it for a moment and so needs flushConfirmed. Needed to create one."
        },
        "skipFloatingIp": {
          "type": "boolean",
          "description": "true: no public address. Left out, it has one.",
          "willReplaceOnChanges": true
        },
        "power": {
          "$ref": "#/types/reconcile-cloud:index:VmPower",
          "description": "Keep it running or stopped. Left out: not managed."
        },
        "flush": {
          "$ref": "#/types/reconcile-cloud:index:VmFlush",
          "description": "What may stand behind the confirmation that a volume was flushed before it is detached: ask (flushConfirmed, the default), command (a program that flushes it), or stop (the VM is stopped meanwhile)."
        },
        "afterReady": {
          "$ref": "#/types/reconcile-cloud:index:VmAfterReady",
          "description": "A command that is owed after the VM was made, replaced or rebuilt, until it ended with 0; an update that follows runs what is still owed."
        },
        "afterAttach": {
          "$ref": "#/types/reconcile-cloud:index:VmAfterAttach",
          "description": "A command that is owed after the VM's own data volume was attached or grew, until it ended with 0; an update that follows runs what is still owed."
        },
        "onImageChange": {
          "$ref": "#/types/reconcile-cloud:index:VmOnImageChange",
          "description": "What another imageId leads to.",
          "default": "rebuild"
        },
        "snapshotBefore": {
          "type": "array",
          "items": {
            "$ref": "#/types/reconcile-cloud:index:VmSnapshotBefore"
          },
          "description": "Take a snapshot before these."
        },
        "deleteFloatingIp": {
          "type": "boolean",
          "description": "Delete the public address with the VM."
        },
        "preservedVolumes": {
          "$ref": "#/types/reconcile-cloud:index:VmPreservedVolumes",
          "description": "What becomes of the data volume that outlives the VM. Volumes managed as resources of their own are never touched, and what hangs on a VM that was imported or adopted always stays.",
          "default": "retain"
        },
        "verifyResize": {
          "$ref": "#/types/reconcile-cloud:index:VmVerifyResize",
          "description": "How a resize is decided that waits in VERIFY_RESIZE: confirmed once the check passes, reverted when it does not."
        },
        "flushConfirmed": {
          "type": "boolean",
          "description": "You state that the volume was unmounted or synced inside the guest, so that it may be detached. Kept with the resource: set it before the change that detaches."
        },
        "adopt": {
          "type": "string",
          "description": "The id of an existing resource to take over instead of creating one. Nothing is sent that would lose data; once it is taken over the property may stay or go. \"none\" says of a create whose outcome is not known that it made nothing."
        }
      },
      "requiredInputs": [
        "flavorId",
        "imageId",
        "owner"
      ],
      "properties": {
        "name": {
          "type": "string",
          "description": "3 to 50 characters of a-z, 0-9 and hyphen; upper case is lower-cased. Left out, the resource's own name."
        },
        "flavorId": {
          "type": "string",
          "description": "Flavor name or id; both are the same flavor. A change resizes in place."
        },
        "imageId": {
          "type": "string",
          "description": "Image id, or a name that the service's list resolves. A change rebuilds the VM and wipes its root disk; see onImageChange."
        },
        "owner": {
          "type": "string",
          "description": "Username or e-mail address; the service stores the e-mail, so a username is never a difference."
        },
        "userId": {
          "type": "string",
          "description": "Your user id in the service."
        },
        "project": {
          "type": "string",
          "description": "The project to build in."
        },
        "region": {
          "type": "string",
          "description": "The region to build in."
        },
        "rootSize": {
          "type": "integer",
          "description": "Root disk in GB; 50 when left out. Cannot be changed."
        },
        "size": {
          "type": "integer",
          "description": "Data volume in GB, at least 1. Grows in place, which detaches it for a moment and so needs flushConfirmed."
        },
        "skipFloatingIp": {
          "type": "boolean",
          "description": "true: no public address. Left out, it has one."
        },
        "power": {
          "$ref": "#/types/reconcile-cloud:index:VmPower",
          "description": "Keep it running or stopped. Left out: not managed."
        },
        "flush": {
          "$ref": "#/types/reconcile-cloud:index:VmFlush",
          "description": "What may stand behind the confirmation that a volume was flushed before it is detached: ask (flushConfirmed, the default), command (a program that flushes it), or stop (the VM is stopped meanwhile)."
        },
        "afterReady": {
          "$ref": "#/types/reconcile-cloud:index:VmAfterReady",
          "description": "A command that is owed after the VM was made, replaced or rebuilt, until it ended with 0; an update that follows runs what is still owed."
        },
        "afterAttach": {
          "$ref": "#/types/reconcile-cloud:index:VmAfterAttach",
          "description": "A command that is owed after the VM's own data volume was attached or grew, until it ended with 0; an update that follows runs what is still owed."
        },
        "onImageChange": {
          "$ref": "#/types/reconcile-cloud:index:VmOnImageChange",
          "description": "What another imageId leads to."
        },
        "snapshotBefore": {
          "type": "array",
          "items": {
            "$ref": "#/types/reconcile-cloud:index:VmSnapshotBefore"
          },
          "description": "Take a snapshot before these."
        },
        "deleteFloatingIp": {
          "type": "boolean",
          "description": "Delete the public address with the VM."
        },
        "preservedVolumes": {
          "$ref": "#/types/reconcile-cloud:index:VmPreservedVolumes",
          "description": "What becomes of the data volume that outlives the VM. Volumes managed as resources of their own are never touched, and what hangs on a VM that was imported or adopted always stays."
        },
        "verifyResize": {
          "$ref": "#/types/reconcile-cloud:index:VmVerifyResize",
          "description": "How a resize is decided that waits in VERIFY_RESIZE: confirmed once the check passes, reverted when it does not."
        },
        "flushConfirmed": {
          "type": "boolean",
          "description": "You state that the volume was unmounted or synced inside the guest, so that it may be detached. Kept with the resource: set it before the change that detaches."
        },
        "adopt": {
          "type": "string",
          "description": "The id of an existing resource to take over instead of creating one. Nothing is sent that would lose data; once it is taken over the property may stay or go. \"none\" says of a create whose outcome is not known that it made nothing."
        },
        "status": {
          "type": "string",
          "description": "Its state when it was last looked at, in the service's own word."
        },
        "floatingIp": {
          "type": "string",
          "description": "The public address, where it has one and the service shows it."
        },
        "privateIp": {
          "type": "string",
          "description": "The address in the private network, where the service shows it."
        },
        "dataVolumeId": {
          "type": "string",
          "description": "The data volume created with it, where the service shows which it is."
        },
        "recorded": {
          "$ref": "pulumi.json#/Any",
          "description": "What the engine remembers of the resource between two runs. Not for programs."
        }
      },
      "required": [
        "name",
        "flavorId",
        "imageId",
        "owner"
      ],
      "aliases": [
        {
          "type": "pulumi-nodejs:dynamic/reconcile-cloud:Vm"
        }
      ]
    },
    "reconcile-cloud:index:Volume": {
      "description": "A block volume. Grows in place; one that is attached is detached for it (which needs a flush) and attached again.\n\n{{% examples %}}\n## Example Usage\n{{% example %}}\n### A volume\n\n```typescript\nimport * as cloud from \"@reconcile-cloud/pulumi\";\n\nconst data = new cloud.Volume(\"data\", {\n    size: 20,\n});\n```\n```python\nimport pulumi_reconcile_cloud as cloud\n\ndata = cloud.Volume(\"data\",\n    size=20,\n)\n```\n```go\npackage main\n\nimport (\n\t\"github.com/pulumi/pulumi/sdk/v3/go/pulumi\"\n\t\"github.com/reconcile-cloud/reconcile-cloud/sdk/go/reconcilecloud\"\n)\n\nfunc main() {\n\tpulumi.Run(func(ctx *pulumi.Context) error {\n\t\t_, err := reconcilecloud.NewVolume(ctx, \"data\", &reconcilecloud.VolumeArgs{\n\t\t\tSize: pulumi.Int(20),\n\t\t})\n\t\tif err != nil {\n\t\t\treturn err\n\t\t}\n\t\treturn nil\n\t})\n}\n```\n```csharp\nusing Pulumi;\nusing Cloud = ReconcileCloud.ReconcileCloud;\n\nreturn await Deployment.RunAsync(() =>\n{\n    var data = new Cloud.Volume(\"data\", new()\n    {\n        Size = 20,\n    });\n});\n```\n```java\nimport com.pulumi.Pulumi;\nimport cloud.reconcile.reconcilecloud.*;\nimport cloud.reconcile.reconcilecloud.enums.*;\nimport cloud.reconcile.reconcilecloud.inputs.*;\nimport java.util.Map;\n\npublic class App {\n    public static void main(String[] args) {\n        Pulumi.run(ctx -> {\n            var data = new Volume(\"data\", VolumeArgs.builder()\n                .size(20)\n                .build());\n        });\n    }\n}\n```\n```yaml\nresources:\n  data:\n    type: reconcile-cloud:Volume\n    properties:\n      size: 20\n```\n{{% /example %}}\n{{% /examples %}}\n\n## Import\n\nAn existing one is imported by the id of the volume:\n\n```sh\n$ pulumi import reconcile-cloud:index:Volume example 7d1f6c52-8f4e-4c0e-8d4b-2b6a1c9e5f22\n```",
      "inputProperties": {
        "name": {
          "type": "string",
          "description": "The volume's name. Left out, the resource's own name. The service cannot rename a volume: a change makes an empty new one.",
          "willReplaceOnChanges": true
        },
        "size": {
          "type": "integer",
          "description": "Size in GB. Grows in place; shrinking is refused. The filesystem is grown inside the guest."
        },
        "flush": {
          "$ref": "#/types/reconcile-cloud:index:VolumeFlush",
          "description": "What may stand behind the confirmation that a volume was flushed before it is detached: ask (flushConfirmed, the default), command (a program that flushes it), or stop (the VM is stopped meanwhile)."
        },
        "flushConfirmed": {
          "type": "boolean",
          "description": "You state that the volume was unmounted or synced inside the guest, so that it may be detached. Kept with the resource: set it before the change that detaches."
        },
        "adopt": {
          "type": "string",
          "description": "The id of an existing resource to take over instead of creating one. Nothing is sent that would lose data; once it is taken over the property may stay or go. \"none\" says of a create whose outcome is not known that it made nothing."
        }
      },
      "requiredInputs": [
        "size"
      ],
      "properties": {
        "name": {
          "type": "string",
          "description": "The volume's name. Left out, the resource's own name. The service cannot rename a volume: a change makes an empty new one."
        },
        "size": {
          "type": "integer",
          "description": "Size in GB. Grows in place; shrinking is refused. The filesystem is grown inside the guest."
        },
        "flush": {
          "$ref": "#/types/reconcile-cloud:index:VolumeFlush",
          "description": "What may stand behind the confirmation that a volume was flushed before it is detached: ask (flushConfirmed, the default), command (a program that flushes it), or stop (the VM is stopped meanwhile)."
        },
        "flushConfirmed": {
          "type": "boolean",
          "description": "You state that the volume was unmounted or synced inside the guest, so that it may be detached. Kept with the resource: set it before the change that detaches."
        },
        "adopt": {
          "type": "string",
          "description": "The id of an existing resource to take over instead of creating one. Nothing is sent that would lose data; once it is taken over the property may stay or go. \"none\" says of a create whose outcome is not known that it made nothing."
        },
        "recorded": {
          "$ref": "pulumi.json#/Any",
          "description": "What the engine remembers of the resource between two runs. Not for programs."
        }
      },
      "required": [
        "name",
        "size"
      ],
      "aliases": [
        {
          "type": "pulumi-nodejs:dynamic/reconcile-cloud:Volume"
        }
      ]
    },
    "reconcile-cloud:index:VolumeAttachment": {
      "description": "A volume attached to a VM. Detaching it needs a confirmed flush.\n\n{{% examples %}}\n## Example Usage\n{{% example %}}\n### A volume that may be taken off again\n\n```typescript\nimport * as cloud from \"@reconcile-cloud/pulumi\";\n\nconst web = new cloud.Vm(\"web\", {\n    flavorId: \"m1.small\",\n    imageId: \"ubuntu-24.04\",\n    owner: \"ops@acme.example\",\n    userId: \"1042\",\n    project: \"acme\",\n    region: \"in-west-1\",\n    size: 10,\n});\nconst data = new cloud.Volume(\"data\", {\n    size: 20,\n});\nconst attached = new cloud.VolumeAttachment(\"attached\", {\n    vmId: web.id,\n    volumeId: data.id,\n    flushConfirmed: true,\n});\n```\n```python\nimport pulumi_reconcile_cloud as cloud\n\nweb = cloud.Vm(\"web\",\n    flavor_id=\"m1.small\",\n    image_id=\"ubuntu-24.04\",\n    owner=\"ops@acme.example\",\n    user_id=\"1042\",\n    project=\"acme\",\n    region=\"in-west-1\",\n    size=10,\n)\ndata = cloud.Volume(\"data\",\n    size=20,\n)\nattached = cloud.VolumeAttachment(\"attached\",\n    vm_id=web.id,\n    volume_id=data.id,\n    flush_confirmed=True,\n)\n```\n```go\npackage main\n\nimport (\n\t\"github.com/pulumi/pulumi/sdk/v3/go/pulumi\"\n\t\"github.com/reconcile-cloud/reconcile-cloud/sdk/go/reconcilecloud\"\n)\n\nfunc main() {\n\tpulumi.Run(func(ctx *pulumi.Context) error {\n\t\tweb, err := reconcilecloud.NewVm(ctx, \"web\", &reconcilecloud.VmArgs{\n\t\t\tFlavorId: pulumi.String(\"m1.small\"),\n\t\t\tImageId: pulumi.String(\"ubuntu-24.04\"),\n\t\t\tOwner: pulumi.String(\"ops@acme.example\"),\n\t\t\tUserId: pulumi.String(\"1042\"),\n\t\t\tProject: pulumi.String(\"acme\"),\n\t\t\tRegion: pulumi.String(\"in-west-1\"),\n\t\t\tSize: pulumi.Int(10),\n\t\t})\n\t\tif err != nil {\n\t\t\treturn err\n\t\t}\n\t\tdata, err := reconcilecloud.NewVolume(ctx, \"data\", &reconcilecloud.VolumeArgs{\n\t\t\tSize: pulumi.Int(20),\n\t\t})\n\t\tif err != nil {\n\t\t\treturn err\n\t\t}\n\t\t_, err = reconcilecloud.NewVolumeAttachment(ctx, \"attached\", &reconcilecloud.VolumeAttachmentArgs{\n\t\t\tVmId: web.ID(),\n\t\t\tVolumeId: data.ID(),\n\t\t\tFlushConfirmed: pulumi.Bool(true),\n\t\t})\n\t\tif err != nil {\n\t\t\treturn err\n\t\t}\n\t\treturn nil\n\t})\n}\n```\n```csharp\nusing Pulumi;\nusing Cloud = ReconcileCloud.ReconcileCloud;\n\nreturn await Deployment.RunAsync(() =>\n{\n    var web = new Cloud.Vm(\"web\", new()\n    {\n        FlavorId = \"m1.small\",\n        ImageId = \"ubuntu-24.04\",\n        Owner = \"ops@acme.example\",\n        UserId = \"1042\",\n        Project = \"acme\",\n        Region = \"in-west-1\",\n        Size = 10,\n    });\n    var data = new Cloud.Volume(\"data\", new()\n    {\n        Size = 20,\n    });\n    var attached = new Cloud.VolumeAttachment(\"attached\", new()\n    {\n        VmId = web.Id,\n        VolumeId = data.Id,\n        FlushConfirmed = true,\n    });\n});\n```\n```java\nimport com.pulumi.Pulumi;\nimport cloud.reconcile.reconcilecloud.*;\nimport cloud.reconcile.reconcilecloud.enums.*;\nimport cloud.reconcile.reconcilecloud.inputs.*;\nimport java.util.Map;\n\npublic class App {\n    public static void main(String[] args) {\n        Pulumi.run(ctx -> {\n            var web = new Vm(\"web\", VmArgs.builder()\n                .flavorId(\"m1.small\")\n                .imageId(\"ubuntu-24.04\")\n                .owner(\"ops@acme.example\")\n                .userId(\"1042\")\n                .project(\"acme\")\n                .region(\"in-west-1\")\n                .size(10)\n                .build());\n            var data = new Volume(\"data\", VolumeArgs.builder()\n                .size(20)\n                .build());\n            var attached = new VolumeAttachment(\"attached\", VolumeAttachmentArgs.builder()\n                .vmId(web.id())\n                .volumeId(data.id())\n                .flushConfirmed(true)\n                .build());\n        });\n    }\n}\n```\n```yaml\nresources:\n  web:\n    type: reconcile-cloud:Vm\n    properties:\n      flavorId: \"m1.small\"\n      imageId: \"ubuntu-24.04\"\n      owner: \"ops@acme.example\"\n      userId: \"1042\"\n      project: \"acme\"\n      region: \"in-west-1\"\n      size: 10\n  data:\n    type: reconcile-cloud:Volume\n    properties:\n      size: 20\n  attached:\n    type: reconcile-cloud:VolumeAttachment\n    properties:\n      vmId: \"${web.id}\"\n      volumeId: \"${data.id}\"\n      flushConfirmed: true\n```\n{{% /example %}}\n{{% /examples %}}\n\n## Import\n\nAn existing one is imported by the ids of the VM and of the volume, with a slash between them:\n\n```sh\n$ pulumi import reconcile-cloud:index:VolumeAttachment example 0b5c3a1e-5b7e-4d0c-9a53-8f0a3a5f9d11/7d1f6c52-8f4e-4c0e-8d4b-2b6a1c9e5f22\n```",
      "inputProperties": {
        "vmId": {
          "type": "string",
          "description": "The id of the VM.",
          "willReplaceOnChanges": true
        },
        "volumeId": {
          "type": "string",
          "description": "The id of the volume.",
          "willReplaceOnChanges": true
        },
        "flush": {
          "$ref": "#/types/reconcile-cloud:index:VolumeAttachmentFlush",
          "description": "What may stand behind the confirmation that a volume was flushed before it is detached: ask (flushConfirmed, the default), command (a program that flushes it), or stop (the VM is stopped meanwhile)."
        },
        "flushConfirmed": {
          "type": "boolean",
          "description": "You state that the volume was unmounted or synced inside the guest, so that it may be detached. Kept with the resource: set it before the change that detaches."
        },
        "afterAttach": {
          "$ref": "#/types/reconcile-cloud:index:VolumeAttachmentAfterAttach",
          "description": "A command that is owed after the volume was attached or grew, or the VM was rebuilt, until it ended with 0; an update that follows runs what is still owed."
        }
      },
      "requiredInputs": [
        "vmId",
        "volumeId"
      ],
      "properties": {
        "vmId": {
          "type": "string",
          "description": "The id of the VM."
        },
        "volumeId": {
          "type": "string",
          "description": "The id of the volume."
        },
        "flush": {
          "$ref": "#/types/reconcile-cloud:index:VolumeAttachmentFlush",
          "description": "What may stand behind the confirmation that a volume was flushed before it is detached: ask (flushConfirmed, the default), command (a program that flushes it), or stop (the VM is stopped meanwhile)."
        },
        "flushConfirmed": {
          "type": "boolean",
          "description": "You state that the volume was unmounted or synced inside the guest, so that it may be detached. Kept with the resource: set it before the change that detaches."
        },
        "afterAttach": {
          "$ref": "#/types/reconcile-cloud:index:VolumeAttachmentAfterAttach",
          "description": "A command that is owed after the volume was attached or grew, or the VM was rebuilt, until it ended with 0; an update that follows runs what is still owed."
        },
        "recorded": {
          "$ref": "pulumi.json#/Any",
          "description": "What the engine remembers of the resource between two runs. Not for programs."
        }
      },
      "required": [
        "vmId",
        "volumeId"
      ],
      "aliases": [
        {
          "type": "pulumi-nodejs:dynamic/reconcile-cloud:VolumeAttachment"
        }
      ]
    },
    "reconcile-cloud:index:SecurityGroup": {
      "description": "A security group with its rules. Its rules are all there are, unless rulesMode is shared; then SecurityGroupRule resources may stand beside them.\n\n{{% examples %}}\n## Example Usage\n{{% example %}}\n### A group that admits HTTPS\n\n```typescript\nimport * as cloud from \"@reconcile-cloud/pulumi\";\n\nconst front = new cloud.SecurityGroup(\"front\", {\n    rulesMode: \"shared\",\n    rules: [{ protocol: \"tcp\", dstPort: \"443\", remoteIp: \"0.0.0.0/0\" }],\n});\n```\n```python\nimport pulumi_reconcile_cloud as cloud\n\nfront = cloud.SecurityGroup(\"front\",\n    rules_mode=\"shared\",\n    rules=[{\"protocol\": \"tcp\", \"dst_port\": \"443\", \"remote_ip\": \"0.0.0.0/0\"}],\n)\n```\n```go\npackage main\n\nimport (\n\t\"github.com/pulumi/pulumi/sdk/v3/go/pulumi\"\n\t\"github.com/reconcile-cloud/reconcile-cloud/sdk/go/reconcilecloud\"\n)\n\nfunc main() {\n\tpulumi.Run(func(ctx *pulumi.Context) error {\n\t\t_, err := reconcilecloud.NewSecurityGroup(ctx, \"front\", &reconcilecloud.SecurityGroupArgs{\n\t\t\tRulesMode: reconcilecloud.SecurityGroupRulesMode(\"shared\"),\n\t\t\tRules: reconcilecloud.SecurityGroupRulesItemArray{&reconcilecloud.SecurityGroupRulesItemArgs{Protocol: reconcilecloud.SecurityGroupRulesItemProtocol(\"tcp\"), DstPort: pulumi.String(\"443\"), RemoteIp: pulumi.String(\"0.0.0.0/0\")}},\n\t\t})\n\t\tif err != nil {\n\t\t\treturn err\n\t\t}\n\t\treturn nil\n\t})\n}\n```\n```csharp\nusing Pulumi;\nusing Cloud = ReconcileCloud.ReconcileCloud;\n\nreturn await Deployment.RunAsync(() =>\n{\n    var front = new Cloud.SecurityGroup(\"front\", new()\n    {\n        RulesMode = Cloud.SecurityGroupRulesMode.Shared,\n        Rules = new[] { new Cloud.Inputs.SecurityGroupRulesItemArgs { Protocol = Cloud.SecurityGroupRulesItemProtocol.Tcp, DstPort = \"443\", RemoteIp = \"0.0.0.0/0\" } },\n    });\n});\n```\n```java\nimport com.pulumi.Pulumi;\nimport cloud.reconcile.reconcilecloud.*;\nimport cloud.reconcile.reconcilecloud.enums.*;\nimport cloud.reconcile.reconcilecloud.inputs.*;\nimport java.util.Map;\n\npublic class App {\n    public static void main(String[] args) {\n        Pulumi.run(ctx -> {\n            var front = new SecurityGroup(\"front\", SecurityGroupArgs.builder()\n                .rulesMode(SecurityGroupRulesMode.Shared)\n                .rules(SecurityGroupRulesItemArgs.builder().protocol(SecurityGroupRulesItemProtocol.Tcp).dstPort(\"443\").remoteIp(\"0.0.0.0/0\").build())\n                .build());\n        });\n    }\n}\n```\n```yaml\nresources:\n  front:\n    type: reconcile-cloud:SecurityGroup\n    properties:\n      rulesMode: \"shared\"\n      rules: [{ protocol: \"tcp\", dstPort: \"443\", remoteIp: \"0.0.0.0/0\" }]\n```\n{{% /example %}}\n{{% /examples %}}\n\n## Import\n\nAn existing one is imported by the id of the group:\n\n```sh\n$ pulumi import reconcile-cloud:index:SecurityGroup example 3e9a4b70-1c2d-4f5a-b6c7-d8e9f0a1b233\n```",
      "inputProperties": {
        "name": {
          "type": "string",
          "description": "3 to 50 characters of a-z, 0-9 and hyphen; upper case is lower-cased. Left out, the resource's own name."
        },
        "description": {
          "type": "string",
          "description": "Free text."
        },
        "rules": {
          "type": "array",
          "items": {
            "$ref": "#/types/reconcile-cloud:index:SecurityGroupRulesItem"
          },
          "description": "What is admitted. Created with the group in one request, but for rules that name the group itself."
        },
        "rulesMode": {
          "$ref": "#/types/reconcile-cloud:index:SecurityGroupRulesMode",
          "description": "authoritative: rules that are not declared here are removed. shared: rules made elsewhere stay, which is what SecurityGroupRule needs; those declared here before are removed. additive: no rule is ever removed.",
          "default": "authoritative"
        },
        "onRuleRemoval": {
          "$ref": "#/types/reconcile-cloud:index:SecurityGroupOnRuleRemoval",
          "description": "Where the service cannot delete one rule: replace the group, or keep the rule and warn about it.",
          "default": "replace"
        },
        "adopt": {
          "type": "string",
          "description": "The id of an existing resource to take over instead of creating one. Nothing is sent that would lose data; once it is taken over the property may stay or go. \"none\" says of a create whose outcome is not known that it made nothing."
        }
      },
      "requiredInputs": [],
      "properties": {
        "name": {
          "type": "string",
          "description": "3 to 50 characters of a-z, 0-9 and hyphen; upper case is lower-cased. Left out, the resource's own name."
        },
        "description": {
          "type": "string",
          "description": "Free text."
        },
        "rules": {
          "type": "array",
          "items": {
            "$ref": "#/types/reconcile-cloud:index:SecurityGroupRulesItem"
          },
          "description": "What is admitted. Created with the group in one request, but for rules that name the group itself."
        },
        "rulesMode": {
          "$ref": "#/types/reconcile-cloud:index:SecurityGroupRulesMode",
          "description": "authoritative: rules that are not declared here are removed. shared: rules made elsewhere stay, which is what SecurityGroupRule needs; those declared here before are removed. additive: no rule is ever removed."
        },
        "onRuleRemoval": {
          "$ref": "#/types/reconcile-cloud:index:SecurityGroupOnRuleRemoval",
          "description": "Where the service cannot delete one rule: replace the group, or keep the rule and warn about it."
        },
        "adopt": {
          "type": "string",
          "description": "The id of an existing resource to take over instead of creating one. Nothing is sent that would lose data; once it is taken over the property may stay or go. \"none\" says of a create whose outcome is not known that it made nothing."
        },
        "recorded": {
          "$ref": "pulumi.json#/Any",
          "description": "What the engine remembers of the resource between two runs. Not for programs."
        }
      },
      "required": [
        "name"
      ],
      "aliases": [
        {
          "type": "pulumi-nodejs:dynamic/reconcile-cloud:SecurityGroup"
        }
      ]
    },
    "reconcile-cloud:index:SecurityGroupRule": {
      "description": "One rule of a security group, for groups whose rulesMode is additive, and for rules between groups that name each other.\n\n{{% examples %}}\n## Example Usage\n{{% example %}}\n### A rule beside those of its group\n\n```typescript\nimport * as cloud from \"@reconcile-cloud/pulumi\";\n\nconst front = new cloud.SecurityGroup(\"front\", {\n    rulesMode: \"shared\",\n    rules: [{ protocol: \"tcp\", dstPort: \"443\", remoteIp: \"0.0.0.0/0\" }],\n});\nconst ssh = new cloud.SecurityGroupRule(\"ssh\", {\n    securityGroupId: front.id,\n    protocol: \"tcp\",\n    dstPort: \"22\",\n    remoteIp: \"10.0.0.0/8\",\n});\n```\n```python\nimport pulumi_reconcile_cloud as cloud\n\nfront = cloud.SecurityGroup(\"front\",\n    rules_mode=\"shared\",\n    rules=[{\"protocol\": \"tcp\", \"dst_port\": \"443\", \"remote_ip\": \"0.0.0.0/0\"}],\n)\nssh = cloud.SecurityGroupRule(\"ssh\",\n    security_group_id=front.id,\n    protocol=\"tcp\",\n    dst_port=\"22\",\n    remote_ip=\"10.0.0.0/8\",\n)\n```\n```go\npackage main\n\nimport (\n\t\"github.com/pulumi/pulumi/sdk/v3/go/pulumi\"\n\t\"github.com/reconcile-cloud/reconcile-cloud/sdk/go/reconcilecloud\"\n)\n\nfunc main() {\n\tpulumi.Run(func(ctx *pulumi.Context) error {\n\t\tfront, err := reconcilecloud.NewSecurityGroup(ctx, \"front\", &reconcilecloud.SecurityGroupArgs{\n\t\t\tRulesMode: reconcilecloud.SecurityGroupRulesMode(\"shared\"),\n\t\t\tRules: reconcilecloud.SecurityGroupRulesItemArray{&reconcilecloud.SecurityGroupRulesItemArgs{Protocol: reconcilecloud.SecurityGroupRulesItemProtocol(\"tcp\"), DstPort: pulumi.String(\"443\"), RemoteIp: pulumi.String(\"0.0.0.0/0\")}},\n\t\t})\n\t\tif err != nil {\n\t\t\treturn err\n\t\t}\n\t\t_, err = reconcilecloud.NewSecurityGroupRule(ctx, \"ssh\", &reconcilecloud.SecurityGroupRuleArgs{\n\t\t\tSecurityGroupId: front.ID(),\n\t\t\tProtocol: reconcilecloud.SecurityGroupRuleProtocol(\"tcp\"),\n\t\t\tDstPort: pulumi.String(\"22\"),\n\t\t\tRemoteIp: pulumi.String(\"10.0.0.0/8\"),\n\t\t})\n\t\tif err != nil {\n\t\t\treturn err\n\t\t}\n\t\treturn nil\n\t})\n}\n```\n```csharp\nusing Pulumi;\nusing Cloud = ReconcileCloud.ReconcileCloud;\n\nreturn await Deployment.RunAsync(() =>\n{\n    var front = new Cloud.SecurityGroup(\"front\", new()\n    {\n        RulesMode = Cloud.SecurityGroupRulesMode.Shared,\n        Rules = new[] { new Cloud.Inputs.SecurityGroupRulesItemArgs { Protocol = Cloud.SecurityGroupRulesItemProtocol.Tcp, DstPort = \"443\", RemoteIp = \"0.0.0.0/0\" } },\n    });\n    var ssh = new Cloud.SecurityGroupRule(\"ssh\", new()\n    {\n        SecurityGroupId = front.Id,\n        Protocol = Cloud.SecurityGroupRuleProtocol.Tcp,\n        DstPort = \"22\",\n        RemoteIp = \"10.0.0.0/8\",\n    });\n});\n```\n```java\nimport com.pulumi.Pulumi;\nimport cloud.reconcile.reconcilecloud.*;\nimport cloud.reconcile.reconcilecloud.enums.*;\nimport cloud.reconcile.reconcilecloud.inputs.*;\nimport java.util.Map;\n\npublic class App {\n    public static void main(String[] args) {\n        Pulumi.run(ctx -> {\n            var front = new SecurityGroup(\"front\", SecurityGroupArgs.builder()\n                .rulesMode(SecurityGroupRulesMode.Shared)\n                .rules(SecurityGroupRulesItemArgs.builder().protocol(SecurityGroupRulesItemProtocol.Tcp).dstPort(\"443\").remoteIp(\"0.0.0.0/0\").build())\n                .build());\n            var ssh = new SecurityGroupRule(\"ssh\", SecurityGroupRuleArgs.builder()\n                .securityGroupId(front.id())\n                .protocol(SecurityGroupRuleProtocol.Tcp)\n                .dstPort(\"22\")\n                .remoteIp(\"10.0.0.0/8\")\n                .build());\n        });\n    }\n}\n```\n```yaml\nresources:\n  front:\n    type: reconcile-cloud:SecurityGroup\n    properties:\n      rulesMode: \"shared\"\n      rules: [{ protocol: \"tcp\", dstPort: \"443\", remoteIp: \"0.0.0.0/0\" }]\n  ssh:\n    type: reconcile-cloud:SecurityGroupRule\n    properties:\n      securityGroupId: \"${front.id}\"\n      protocol: \"tcp\"\n      dstPort: \"22\"\n      remoteIp: \"10.0.0.0/8\"\n```\n{{% /example %}}\n{{% /examples %}}\n\n## Import\n\nAn existing one is imported by the ids of the group and of the rule, with a slash between them:\n\n```sh\n$ pulumi import reconcile-cloud:index:SecurityGroupRule example 3e9a4b70-1c2d-4f5a-b6c7-d8e9f0a1b233/5c8d7e6f-9a0b-4c1d-8e2f-3a4b5c6d7e44\n```",
      "inputProperties": {
        "securityGroupId": {
          "type": "string",
          "description": "The id of the group the rule is in.",
          "willReplaceOnChanges": true
        },
        "direction": {
          "$ref": "#/types/reconcile-cloud:index:SecurityGroupRuleDirection",
          "description": "ingress (the default) or egress.",
          "willReplaceOnChanges": true
        },
        "ethertype": {
          "$ref": "#/types/reconcile-cloud:index:SecurityGroupRuleEthertype",
          "description": "IPv4 (the default) or IPv6; follows remoteIp.",
          "willReplaceOnChanges": true
        },
        "protocol": {
          "$ref": "#/types/reconcile-cloud:index:SecurityGroupRuleProtocol",
          "description": "tcp, udp, icmp, or any when left out.",
          "willReplaceOnChanges": true
        },
        "dstPort": {
          "type": "string",
          "description": "The port, or a range such as 8000-8010 where the service knows ranges. All ports when left out.",
          "willReplaceOnChanges": true
        },
        "remoteIp": {
          "type": "string",
          "description": "A CIDR. Left out, and without remoteGroup: everyone.",
          "willReplaceOnChanges": true
        },
        "remoteGroup": {
          "type": "string",
          "description": "The id of another security group; self means the group the rule is in. Use this or remoteIp.",
          "willReplaceOnChanges": true
        },
        "description": {
          "type": "string",
          "description": "Free text, stored with the rule when it is made."
        },
        "onRuleRemoval": {
          "$ref": "#/types/reconcile-cloud:index:SecurityGroupRuleOnRuleRemoval",
          "description": "Where the service cannot delete one rule: fail, or keep it in the service and warn. A rule whose group is deleted with it needs neither: use the option deletedWith.",
          "default": "fail"
        }
      },
      "requiredInputs": [
        "securityGroupId"
      ],
      "properties": {
        "securityGroupId": {
          "type": "string",
          "description": "The id of the group the rule is in."
        },
        "direction": {
          "$ref": "#/types/reconcile-cloud:index:SecurityGroupRuleDirection",
          "description": "ingress (the default) or egress."
        },
        "ethertype": {
          "$ref": "#/types/reconcile-cloud:index:SecurityGroupRuleEthertype",
          "description": "IPv4 (the default) or IPv6; follows remoteIp."
        },
        "protocol": {
          "$ref": "#/types/reconcile-cloud:index:SecurityGroupRuleProtocol",
          "description": "tcp, udp, icmp, or any when left out."
        },
        "dstPort": {
          "type": "string",
          "description": "The port, or a range such as 8000-8010 where the service knows ranges. All ports when left out."
        },
        "remoteIp": {
          "type": "string",
          "description": "A CIDR. Left out, and without remoteGroup: everyone."
        },
        "remoteGroup": {
          "type": "string",
          "description": "The id of another security group; self means the group the rule is in. Use this or remoteIp."
        },
        "description": {
          "type": "string",
          "description": "Free text, stored with the rule when it is made."
        },
        "onRuleRemoval": {
          "$ref": "#/types/reconcile-cloud:index:SecurityGroupRuleOnRuleRemoval",
          "description": "Where the service cannot delete one rule: fail, or keep it in the service and warn. A rule whose group is deleted with it needs neither: use the option deletedWith."
        },
        "ruleId": {
          "type": "string",
          "description": "The id of the rule in its group."
        },
        "recorded": {
          "$ref": "pulumi.json#/Any",
          "description": "What the engine remembers of the resource between two runs. Not for programs."
        }
      },
      "required": [
        "securityGroupId"
      ],
      "aliases": [
        {
          "type": "pulumi-nodejs:dynamic/reconcile-cloud:SecurityGroupRule"
        }
      ]
    },
    "reconcile-cloud:index:DesiredState": {
      "isComponent": true,
      "description": "The files of a desired state (reconcile.yaml) as one component, with a resource for each of their addresses.\n\n{{% examples %}}\n## Example Usage\n{{% example %}}\n### A whole file\n\n```typescript\nimport * as cloud from \"@reconcile-cloud/pulumi\";\n\nconst site = new cloud.DesiredState(\"site\", {\n    files: [\"reconcile.yaml\"],\n    vars: { env: \"prod\" },\n    flushConfirmed: true,\n});\n```\n```python\nimport pulumi_reconcile_cloud as cloud\n\nsite = cloud.DesiredState(\"site\",\n    files=[\"reconcile.yaml\"],\n    vars={\"env\": \"prod\"},\n    flush_confirmed=True,\n)\n```\n```go\npackage main\n\nimport (\n\t\"github.com/pulumi/pulumi/sdk/v3/go/pulumi\"\n\t\"github.com/reconcile-cloud/reconcile-cloud/sdk/go/reconcilecloud\"\n)\n\nfunc main() {\n\tpulumi.Run(func(ctx *pulumi.Context) error {\n\t\t_, err := reconcilecloud.NewDesiredState(ctx, \"site\", &reconcilecloud.DesiredStateArgs{\n\t\t\tFiles: pulumi.StringArray{pulumi.String(\"reconcile.yaml\")},\n\t\t\tVars: pulumi.StringMap{\"env\": pulumi.String(\"prod\")},\n\t\t\tFlushConfirmed: pulumi.Bool(true),\n\t\t})\n\t\tif err != nil {\n\t\t\treturn err\n\t\t}\n\t\treturn nil\n\t})\n}\n```\n```csharp\nusing Pulumi;\nusing Cloud = ReconcileCloud.ReconcileCloud;\n\nreturn await Deployment.RunAsync(() =>\n{\n    var site = new Cloud.DesiredState(\"site\", new()\n    {\n        Files = new[] { \"reconcile.yaml\" },\n        Vars = new InputMap<string> { [\"env\"] = \"prod\" },\n        FlushConfirmed = true,\n    });\n});\n```\n```java\nimport com.pulumi.Pulumi;\nimport cloud.reconcile.reconcilecloud.*;\nimport cloud.reconcile.reconcilecloud.enums.*;\nimport cloud.reconcile.reconcilecloud.inputs.*;\nimport java.util.Map;\n\npublic class App {\n    public static void main(String[] args) {\n        Pulumi.run(ctx -> {\n            var site = new DesiredState(\"site\", DesiredStateArgs.builder()\n                .files(\"reconcile.yaml\")\n                .vars(Map.of(\"env\", \"prod\"))\n                .flushConfirmed(true)\n                .build());\n        });\n    }\n}\n```\n```yaml\nresources:\n  site:\n    type: reconcile-cloud:DesiredState\n    properties:\n      files: [\"reconcile.yaml\"]\n      vars: { env: \"prod\" }\n      flushConfirmed: true\n```\n{{% /example %}}\n{{% /examples %}}",
      "inputProperties": {
        "files": {
          "type": "array",
          "items": {
            "type": "string"
          },
          "description": "The files. Several are one desired state."
        },
        "env": {
          "type": "string",
          "description": "Of files that declare environments, the one that is meant."
        },
        "vars": {
          "type": "object",
          "additionalProperties": {
            "type": "string"
          },
          "description": "Values for the files' vars."
        },
        "reads": {
          "$ref": "pulumi.json#/Any",
          "description": "What the files' reads give: by the name of each, the outputs of that project."
        },
        "lookups": {
          "$ref": "pulumi.json#/Any",
          "description": "What the files' lookups find: by the name of each, its id, name and addresses."
        },
        "flushConfirmed": {
          "type": "boolean",
          "description": "You state that volumes are unmounted or synced before a change detaches them."
        }
      },
      "requiredInputs": [
        "files"
      ],
      "properties": {
        "ids": {
          "type": "object",
          "additionalProperties": {
            "type": "string"
          },
          "description": "The ids, by address: vm.web[a], volume.data, group.web."
        },
        "addresses": {
          "type": "object",
          "additionalProperties": {
            "$ref": "#/types/reconcile-cloud:index:DesiredStateAddressesItem"
          },
          "description": "The VMs' addresses, by the address of each."
        },
        "outputs": {
          "type": "object",
          "additionalProperties": {
            "$ref": "pulumi.json#/Any"
          },
          "description": "What the files hand out, by name."
        }
      },
      "required": [
        "ids",
        "addresses",
        "outputs"
      ]
    },
    "reconcile-cloud:index:VmWithVolumes": {
      "isComponent": true,
      "description": "A virtual machine with volumes of its own, which are attached to it and outlive it when it is replaced.\n\n{{% examples %}}\n## Example Usage\n{{% example %}}\n### A virtual machine with two volumes\n\n```typescript\nimport * as cloud from \"@reconcile-cloud/pulumi\";\n\nconst store = new cloud.VmWithVolumes(\"store\", {\n    flavorId: \"m1.small\",\n    imageId: \"ubuntu-24.04\",\n    owner: \"ops@acme.example\",\n    userId: \"1042\",\n    project: \"acme\",\n    region: \"in-west-1\",\n    size: 10,\n    volumes: { data: { size: 100 }, logs: { size: 20 } },\n});\n```\n```python\nimport pulumi_reconcile_cloud as cloud\n\nstore = cloud.VmWithVolumes(\"store\",\n    flavor_id=\"m1.small\",\n    image_id=\"ubuntu-24.04\",\n    owner=\"ops@acme.example\",\n    user_id=\"1042\",\n    project=\"acme\",\n    region=\"in-west-1\",\n    size=10,\n    volumes={\"data\": {\"size\": 100}, \"logs\": {\"size\": 20}},\n)\n```\n```go\npackage main\n\nimport (\n\t\"github.com/pulumi/pulumi/sdk/v3/go/pulumi\"\n\t\"github.com/reconcile-cloud/reconcile-cloud/sdk/go/reconcilecloud\"\n)\n\nfunc main() {\n\tpulumi.Run(func(ctx *pulumi.Context) error {\n\t\t_, err := reconcilecloud.NewVmWithVolumes(ctx, \"store\", &reconcilecloud.VmWithVolumesArgs{\n\t\t\tFlavorId: pulumi.String(\"m1.small\"),\n\t\t\tImageId: pulumi.String(\"ubuntu-24.04\"),\n\t\t\tOwner: pulumi.String(\"ops@acme.example\"),\n\t\t\tUserId: pulumi.String(\"1042\"),\n\t\t\tProject: pulumi.String(\"acme\"),\n\t\t\tRegion: pulumi.String(\"in-west-1\"),\n\t\t\tSize: pulumi.Int(10),\n\t\t\tVolumes: reconcilecloud.VmWithVolumesVolumesItemMap{\"data\": &reconcilecloud.VmWithVolumesVolumesItemArgs{Size: pulumi.Int(100)}, \"logs\": &reconcilecloud.VmWithVolumesVolumesItemArgs{Size: pulumi.Int(20)}},\n\t\t})\n\t\tif err != nil {\n\t\t\treturn err\n\t\t}\n\t\treturn nil\n\t})\n}\n```\n```csharp\nusing Pulumi;\nusing Cloud = ReconcileCloud.ReconcileCloud;\n\nreturn await Deployment.RunAsync(() =>\n{\n    var store = new Cloud.VmWithVolumes(\"store\", new()\n    {\n        FlavorId = \"m1.small\",\n        ImageId = \"ubuntu-24.04\",\n        Owner = \"ops@acme.example\",\n        UserId = \"1042\",\n        Project = \"acme\",\n        Region = \"in-west-1\",\n        Size = 10,\n        Volumes = new InputMap<Cloud.Inputs.VmWithVolumesVolumesItemArgs> { [\"data\"] = new Cloud.Inputs.VmWithVolumesVolumesItemArgs { Size = 100 }, [\"logs\"] = new Cloud.Inputs.VmWithVolumesVolumesItemArgs { Size = 20 } },\n    });\n});\n```\n```java\nimport com.pulumi.Pulumi;\nimport cloud.reconcile.reconcilecloud.*;\nimport cloud.reconcile.reconcilecloud.enums.*;\nimport cloud.reconcile.reconcilecloud.inputs.*;\nimport java.util.Map;\n\npublic class App {\n    public static void main(String[] args) {\n        Pulumi.run(ctx -> {\n            var store = new VmWithVolumes(\"store\", VmWithVolumesArgs.builder()\n                .flavorId(\"m1.small\")\n                .imageId(\"ubuntu-24.04\")\n                .owner(\"ops@acme.example\")\n                .userId(\"1042\")\n                .project(\"acme\")\n                .region(\"in-west-1\")\n                .size(10)\n                .volumes(Map.of(\"data\", VmWithVolumesVolumesItemArgs.builder().size(100).build(), \"logs\", VmWithVolumesVolumesItemArgs.builder().size(20).build()))\n                .build());\n        });\n    }\n}\n```\n```yaml\nresources:\n  store:\n    type: reconcile-cloud:VmWithVolumes\n    properties:\n      flavorId: \"m1.small\"\n      imageId: \"ubuntu-24.04\"\n      owner: \"ops@acme.example\"\n      userId: \"1042\"\n      project: \"acme\"\n      region: \"in-west-1\"\n      size: 10\n      volumes: { data: { size: 100 }, logs: { size: 20 } }\n```\n{{% /example %}}\n{{% /examples %}}",
      "inputProperties": {
        "name": {
          "type": "string",
          "description": "3 to 50 characters of a-z, 0-9 and hyphen; upper case is lower-cased. Left out, the resource's own name."
        },
        "flavorId": {
          "type": "string",
          "description": "Flavor name or id; both are the same flavor. A change resizes in place."
        },
        "imageId": {
          "type": "string",
          "description": "Image id, or a name that the service's list resolves. A change rebuilds the VM and wipes its root disk; see onImageChange."
        },
        "owner": {
          "type": "string",
          "description": "Username or e-mail address; the service stores the e-mail, so a username is never a difference.",
          "willReplaceOnChanges": true
        },
        "userId": {
          "type": "string",
          "description": "Your user id in the service. Needed to create one.",
          "willReplaceOnChanges": true
        },
        "project": {
          "type": "string",
          "description": "The project to build in. Needed to create one.",
          "willReplaceOnChanges": true
        },
        "region": {
          "type": "string",
          "description": "The region to build in. Needed to create one.",
          "willReplaceOnChanges": true
        },
        "rootSize": {
          "type": "integer",
          "description": "Root disk in GB; 50 when left out. Cannot be changed.",
          "willReplaceOnChanges": true
        },
        "size": {
          "type": "integer",
          "description": "Data volume in GB, at least 1. Grows in place, which detaches it for a moment and so needs flushConfirmed. Needed to create one."
        },
        "skipFloatingIp": {
          "type": "boolean",
          "description": "true: no public address. Left out, it has one.",
          "willReplaceOnChanges": true
        },
        "power": {
          "$ref": "#/types/reconcile-cloud:index:VmPower",
          "description": "Keep it running or stopped. Left out: not managed."
        },
        "flush": {
          "$ref": "#/types/reconcile-cloud:index:VmFlush",
          "description": "What may stand behind the confirmation that a volume was flushed before it is detached: ask (flushConfirmed, the default), command (a program that flushes it), or stop (the VM is stopped meanwhile)."
        },
        "afterReady": {
          "$ref": "#/types/reconcile-cloud:index:VmAfterReady",
          "description": "A command that is owed after the VM was made, replaced or rebuilt, until it ended with 0; an update that follows runs what is still owed."
        },
        "afterAttach": {
          "$ref": "#/types/reconcile-cloud:index:VmAfterAttach",
          "description": "A command that is owed after the VM's own data volume was attached or grew, until it ended with 0; an update that follows runs what is still owed."
        },
        "onImageChange": {
          "$ref": "#/types/reconcile-cloud:index:VmOnImageChange",
          "description": "What another imageId leads to.",
          "default": "rebuild"
        },
        "snapshotBefore": {
          "type": "array",
          "items": {
            "$ref": "#/types/reconcile-cloud:index:VmSnapshotBefore"
          },
          "description": "Take a snapshot before these."
        },
        "deleteFloatingIp": {
          "type": "boolean",
          "description": "Delete the public address with the VM."
        },
        "preservedVolumes": {
          "$ref": "#/types/reconcile-cloud:index:VmPreservedVolumes",
          "description": "What becomes of the data volume that outlives the VM. Volumes managed as resources of their own are never touched, and what hangs on a VM that was imported or adopted always stays.",
          "default": "retain"
        },
        "verifyResize": {
          "$ref": "#/types/reconcile-cloud:index:VmVerifyResize",
          "description": "How a resize is decided that waits in VERIFY_RESIZE: confirmed once the check passes, reverted when it does not."
        },
        "flushConfirmed": {
          "type": "boolean",
          "description": "You state that the volume was unmounted or synced inside the guest, so that it may be detached. Kept with the resource: set it before the change that detaches."
        },
        "adopt": {
          "type": "string",
          "description": "The id of an existing resource to take over instead of creating one. Nothing is sent that would lose data; once it is taken over the property may stay or go. \"none\" says of a create whose outcome is not known that it made nothing."
        },
        "volumes": {
          "type": "object",
          "additionalProperties": {
            "$ref": "#/types/reconcile-cloud:index:VmWithVolumesVolumesItem"
          },
          "description": "The volumes, by a name each."
        }
      },
      "requiredInputs": [
        "flavorId",
        "imageId",
        "owner",
        "userId",
        "project",
        "region",
        "size"
      ],
      "properties": {
        "vmId": {
          "type": "string",
          "description": "The VM's id."
        },
        "floatingIp": {
          "type": "string",
          "description": "The public address."
        },
        "privateIp": {
          "type": "string",
          "description": "The address in the private network."
        },
        "volumeIds": {
          "type": "object",
          "additionalProperties": {
            "type": "string"
          },
          "description": "The volumes' ids, by their names."
        }
      },
      "required": [
        "vmId",
        "volumeIds"
      ]
    },
    "reconcile-cloud:index:SecurityGroupSet": {
      "isComponent": true,
      "description": "Security groups that may name each other in their rules, in a circle too.\n\n{{% examples %}}\n## Example Usage\n{{% example %}}\n### Two groups that name each other\n\n```typescript\nimport * as cloud from \"@reconcile-cloud/pulumi\";\n\nconst tiers = new cloud.SecurityGroupSet(\"tiers\", {\n    groups: { web: { rules: [{ protocol: \"tcp\", dstPort: \"8080\", remoteGroup: \"data\" }] }, data: { rules: [{ protocol: \"tcp\", dstPort: \"5432\", remoteGroup: \"web\" }] } },\n});\n```\n```python\nimport pulumi_reconcile_cloud as cloud\n\ntiers = cloud.SecurityGroupSet(\"tiers\",\n    groups={\"web\": {\"rules\": [{\"protocol\": \"tcp\", \"dst_port\": \"8080\", \"remote_group\": \"data\"}]}, \"data\": {\"rules\": [{\"protocol\": \"tcp\", \"dst_port\": \"5432\", \"remote_group\": \"web\"}]}},\n)\n```\n```go\npackage main\n\nimport (\n\t\"github.com/pulumi/pulumi/sdk/v3/go/pulumi\"\n\t\"github.com/reconcile-cloud/reconcile-cloud/sdk/go/reconcilecloud\"\n)\n\nfunc main() {\n\tpulumi.Run(func(ctx *pulumi.Context) error {\n\t\t_, err := reconcilecloud.NewSecurityGroupSet(ctx, \"tiers\", &reconcilecloud.SecurityGroupSetArgs{\n\t\t\tGroups: reconcilecloud.SecurityGroupSetGroupsItemMap{\"web\": &reconcilecloud.SecurityGroupSetGroupsItemArgs{Rules: reconcilecloud.SecurityGroupRulesItemArray{&reconcilecloud.SecurityGroupRulesItemArgs{Protocol: reconcilecloud.SecurityGroupRulesItemProtocol(\"tcp\"), DstPort: pulumi.String(\"8080\"), RemoteGroup: pulumi.String(\"data\")}}}, \"data\": &reconcilecloud.SecurityGroupSetGroupsItemArgs{Rules: reconcilecloud.SecurityGroupRulesItemArray{&reconcilecloud.SecurityGroupRulesItemArgs{Protocol: reconcilecloud.SecurityGroupRulesItemProtocol(\"tcp\"), DstPort: pulumi.String(\"5432\"), RemoteGroup: pulumi.String(\"web\")}}}},\n\t\t})\n\t\tif err != nil {\n\t\t\treturn err\n\t\t}\n\t\treturn nil\n\t})\n}\n```\n```csharp\nusing Pulumi;\nusing Cloud = ReconcileCloud.ReconcileCloud;\n\nreturn await Deployment.RunAsync(() =>\n{\n    var tiers = new Cloud.SecurityGroupSet(\"tiers\", new()\n    {\n        Groups = new InputMap<Cloud.Inputs.SecurityGroupSetGroupsItemArgs> { [\"web\"] = new Cloud.Inputs.SecurityGroupSetGroupsItemArgs { Rules = new[] { new Cloud.Inputs.SecurityGroupRulesItemArgs { Protocol = Cloud.SecurityGroupRulesItemProtocol.Tcp, DstPort = \"8080\", RemoteGroup = \"data\" } } }, [\"data\"] = new Cloud.Inputs.SecurityGroupSetGroupsItemArgs { Rules = new[] { new Cloud.Inputs.SecurityGroupRulesItemArgs { Protocol = Cloud.SecurityGroupRulesItemProtocol.Tcp, DstPort = \"5432\", RemoteGroup = \"web\" } } } },\n    });\n});\n```\n```java\nimport com.pulumi.Pulumi;\nimport cloud.reconcile.reconcilecloud.*;\nimport cloud.reconcile.reconcilecloud.enums.*;\nimport cloud.reconcile.reconcilecloud.inputs.*;\nimport java.util.Map;\n\npublic class App {\n    public static void main(String[] args) {\n        Pulumi.run(ctx -> {\n            var tiers = new SecurityGroupSet(\"tiers\", SecurityGroupSetArgs.builder()\n                .groups(Map.of(\"web\", SecurityGroupSetGroupsItemArgs.builder().rules(SecurityGroupRulesItemArgs.builder().protocol(SecurityGroupRulesItemProtocol.Tcp).dstPort(\"8080\").remoteGroup(\"data\").build()).build(), \"data\", SecurityGroupSetGroupsItemArgs.builder().rules(SecurityGroupRulesItemArgs.builder().protocol(SecurityGroupRulesItemProtocol.Tcp).dstPort(\"5432\").remoteGroup(\"web\").build()).build()))\n                .build());\n        });\n    }\n}\n```\n```yaml\nresources:\n  tiers:\n    type: reconcile-cloud:SecurityGroupSet\n    properties:\n      groups: { web: { rules: [{ protocol: \"tcp\", dstPort: \"8080\", remoteGroup: \"data\" }] }, data: { rules: [{ protocol: \"tcp\", dstPort: \"5432\", remoteGroup: \"web\" }] } }\n```\n{{% /example %}}\n{{% /examples %}}",
      "inputProperties": {
        "groups": {
          "type": "object",
          "additionalProperties": {
            "$ref": "#/types/reconcile-cloud:index:SecurityGroupSetGroupsItem"
          },
          "description": "The groups, by a key each. A rule's remoteGroup may be the key of another one."
        }
      },
      "requiredInputs": [
        "groups"
      ],
      "properties": {
        "ids": {
          "type": "object",
          "additionalProperties": {
            "type": "string"
          },
          "description": "The groups' ids, by their keys."
        }
      },
      "required": [
        "ids"
      ]
    }
  },
  "functions": {
    "reconcile-cloud:index:getFlavor": {
      "description": "Looks up a flavor by its name or its id. It is an error when there is none, or when several have the name.\n\n{{% examples %}}\n## Example Usage\n{{% example %}}\n### By its name\n\n```typescript\nimport * as cloud from \"@reconcile-cloud/pulumi\";\n\nconst found = cloud.getFlavorOutput({ name: \"m1.small\" });\nexport const id = found.id;\n```\n```python\nimport pulumi\nimport pulumi_reconcile_cloud as cloud\n\nfound = cloud.get_flavor_output(name=\"m1.small\")\npulumi.export(\"id\", found.id)\n```\n```go\npackage main\n\nimport (\n\t\"github.com/pulumi/pulumi/sdk/v3/go/pulumi\"\n\t\"github.com/reconcile-cloud/reconcile-cloud/sdk/go/reconcilecloud\"\n)\n\nfunc main() {\n\tpulumi.Run(func(ctx *pulumi.Context) error {\n\t\tfound := reconcilecloud.GetFlavorOutput(ctx, reconcilecloud.GetFlavorOutputArgs{Name: pulumi.String(\"m1.small\")})\n\t\tctx.Export(\"id\", found.Id())\n\t\treturn nil\n\t})\n}\n```\n```csharp\nusing System.Collections.Generic;\nusing Pulumi;\nusing Cloud = ReconcileCloud.ReconcileCloud;\n\nreturn await Deployment.RunAsync(() =>\n{\n    var found = Cloud.GetFlavor.Invoke(new() { Name = \"m1.small\" });\n    return new Dictionary<string, object?> { [\"id\"] = found.Apply(one => one.Id) };\n});\n```\n```java\nimport com.pulumi.Pulumi;\nimport cloud.reconcile.reconcilecloud.*;\nimport cloud.reconcile.reconcilecloud.enums.*;\nimport cloud.reconcile.reconcilecloud.inputs.*;\nimport java.util.Map;\n\npublic class App {\n    public static void main(String[] args) {\n        Pulumi.run(ctx -> {\n            var found = ReconcilecloudFunctions.getFlavor(GetFlavorArgs.builder().name(\"m1.small\").build());\n            ctx.export(\"id\", found.applyValue(one -> one.id()));\n        });\n    }\n}\n```\n```yaml\nvariables:\n  found:\n    fn::invoke:\n      function: reconcile-cloud:getFlavor\n      arguments:\n        name: \"m1.small\"\noutputs:\n  id: ${found.id}\n```\n{{% /example %}}\n{{% /examples %}}",
      "inputs": {
        "properties": {
          "name": {
            "type": "string",
            "description": "Its name."
          },
          "id": {
            "type": "string",
            "description": "Its id; instead of the name."
          }
        },
        "required": []
      },
      "outputs": {
        "properties": {
          "id": {
            "type": "string",
            "description": "Its id."
          },
          "name": {
            "type": "string",
            "description": "Its name."
          }
        },
        "required": [
          "id"
        ]
      }
    },
    "reconcile-cloud:index:getImage": {
      "description": "Looks up an image by its name or its id. It is an error when there is none, or when several have the name.\n\n{{% examples %}}\n## Example Usage\n{{% example %}}\n### By its name\n\n```typescript\nimport * as cloud from \"@reconcile-cloud/pulumi\";\n\nconst found = cloud.getImageOutput({ name: \"ubuntu-24.04\" });\nexport const id = found.id;\n```\n```python\nimport pulumi\nimport pulumi_reconcile_cloud as cloud\n\nfound = cloud.get_image_output(name=\"ubuntu-24.04\")\npulumi.export(\"id\", found.id)\n```\n```go\npackage main\n\nimport (\n\t\"github.com/pulumi/pulumi/sdk/v3/go/pulumi\"\n\t\"github.com/reconcile-cloud/reconcile-cloud/sdk/go/reconcilecloud\"\n)\n\nfunc main() {\n\tpulumi.Run(func(ctx *pulumi.Context) error {\n\t\tfound := reconcilecloud.GetImageOutput(ctx, reconcilecloud.GetImageOutputArgs{Name: pulumi.String(\"ubuntu-24.04\")})\n\t\tctx.Export(\"id\", found.Id())\n\t\treturn nil\n\t})\n}\n```\n```csharp\nusing System.Collections.Generic;\nusing Pulumi;\nusing Cloud = ReconcileCloud.ReconcileCloud;\n\nreturn await Deployment.RunAsync(() =>\n{\n    var found = Cloud.GetImage.Invoke(new() { Name = \"ubuntu-24.04\" });\n    return new Dictionary<string, object?> { [\"id\"] = found.Apply(one => one.Id) };\n});\n```\n```java\nimport com.pulumi.Pulumi;\nimport cloud.reconcile.reconcilecloud.*;\nimport cloud.reconcile.reconcilecloud.enums.*;\nimport cloud.reconcile.reconcilecloud.inputs.*;\nimport java.util.Map;\n\npublic class App {\n    public static void main(String[] args) {\n        Pulumi.run(ctx -> {\n            var found = ReconcilecloudFunctions.getImage(GetImageArgs.builder().name(\"ubuntu-24.04\").build());\n            ctx.export(\"id\", found.applyValue(one -> one.id()));\n        });\n    }\n}\n```\n```yaml\nvariables:\n  found:\n    fn::invoke:\n      function: reconcile-cloud:getImage\n      arguments:\n        name: \"ubuntu-24.04\"\noutputs:\n  id: ${found.id}\n```\n{{% /example %}}\n{{% /examples %}}",
      "inputs": {
        "properties": {
          "name": {
            "type": "string",
            "description": "Its name."
          },
          "id": {
            "type": "string",
            "description": "Its id; instead of the name."
          }
        },
        "required": []
      },
      "outputs": {
        "properties": {
          "id": {
            "type": "string",
            "description": "Its id."
          },
          "name": {
            "type": "string",
            "description": "Its name."
          }
        },
        "required": [
          "id"
        ]
      }
    },
    "reconcile-cloud:index:getRegion": {
      "description": "Looks up a region by its name or its id. It is an error when there is none, or when several have the name.\n\n{{% examples %}}\n## Example Usage\n{{% example %}}\n### By its name\n\n```typescript\nimport * as cloud from \"@reconcile-cloud/pulumi\";\n\nconst found = cloud.getRegionOutput({ name: \"in-west-1\" });\nexport const id = found.id;\n```\n```python\nimport pulumi\nimport pulumi_reconcile_cloud as cloud\n\nfound = cloud.get_region_output(name=\"in-west-1\")\npulumi.export(\"id\", found.id)\n```\n```go\npackage main\n\nimport (\n\t\"github.com/pulumi/pulumi/sdk/v3/go/pulumi\"\n\t\"github.com/reconcile-cloud/reconcile-cloud/sdk/go/reconcilecloud\"\n)\n\nfunc main() {\n\tpulumi.Run(func(ctx *pulumi.Context) error {\n\t\tfound := reconcilecloud.GetRegionOutput(ctx, reconcilecloud.GetRegionOutputArgs{Name: pulumi.String(\"in-west-1\")})\n\t\tctx.Export(\"id\", found.Id())\n\t\treturn nil\n\t})\n}\n```\n```csharp\nusing System.Collections.Generic;\nusing Pulumi;\nusing Cloud = ReconcileCloud.ReconcileCloud;\n\nreturn await Deployment.RunAsync(() =>\n{\n    var found = Cloud.GetRegion.Invoke(new() { Name = \"in-west-1\" });\n    return new Dictionary<string, object?> { [\"id\"] = found.Apply(one => one.Id) };\n});\n```\n```java\nimport com.pulumi.Pulumi;\nimport cloud.reconcile.reconcilecloud.*;\nimport cloud.reconcile.reconcilecloud.enums.*;\nimport cloud.reconcile.reconcilecloud.inputs.*;\nimport java.util.Map;\n\npublic class App {\n    public static void main(String[] args) {\n        Pulumi.run(ctx -> {\n            var found = ReconcilecloudFunctions.getRegion(GetRegionArgs.builder().name(\"in-west-1\").build());\n            ctx.export(\"id\", found.applyValue(one -> one.id()));\n        });\n    }\n}\n```\n```yaml\nvariables:\n  found:\n    fn::invoke:\n      function: reconcile-cloud:getRegion\n      arguments:\n        name: \"in-west-1\"\noutputs:\n  id: ${found.id}\n```\n{{% /example %}}\n{{% /examples %}}",
      "inputs": {
        "properties": {
          "name": {
            "type": "string",
            "description": "Its name."
          },
          "id": {
            "type": "string",
            "description": "Its id; instead of the name."
          }
        },
        "required": []
      },
      "outputs": {
        "properties": {
          "id": {
            "type": "string",
            "description": "Its id."
          },
          "name": {
            "type": "string",
            "description": "Its name."
          }
        },
        "required": [
          "id"
        ]
      }
    },
    "reconcile-cloud:index:getVm": {
      "description": "Looks up a VM by its name or its id. It is an error when there is none, or when several have the name.\n\n{{% examples %}}\n## Example Usage\n{{% example %}}\n### By its name\n\n```typescript\nimport * as cloud from \"@reconcile-cloud/pulumi\";\n\nconst found = cloud.getVmOutput({ name: \"web\" });\nexport const id = found.id;\n```\n```python\nimport pulumi\nimport pulumi_reconcile_cloud as cloud\n\nfound = cloud.get_vm_output(name=\"web\")\npulumi.export(\"id\", found.id)\n```\n```go\npackage main\n\nimport (\n\t\"github.com/pulumi/pulumi/sdk/v3/go/pulumi\"\n\t\"github.com/reconcile-cloud/reconcile-cloud/sdk/go/reconcilecloud\"\n)\n\nfunc main() {\n\tpulumi.Run(func(ctx *pulumi.Context) error {\n\t\tfound := reconcilecloud.LookupVmOutput(ctx, reconcilecloud.LookupVmOutputArgs{Name: pulumi.String(\"web\")})\n\t\tctx.Export(\"id\", found.Id())\n\t\treturn nil\n\t})\n}\n```\n```csharp\nusing System.Collections.Generic;\nusing Pulumi;\nusing Cloud = ReconcileCloud.ReconcileCloud;\n\nreturn await Deployment.RunAsync(() =>\n{\n    var found = Cloud.GetVm.Invoke(new() { Name = \"web\" });\n    return new Dictionary<string, object?> { [\"id\"] = found.Apply(one => one.Id) };\n});\n```\n```java\nimport com.pulumi.Pulumi;\nimport cloud.reconcile.reconcilecloud.*;\nimport cloud.reconcile.reconcilecloud.enums.*;\nimport cloud.reconcile.reconcilecloud.inputs.*;\nimport java.util.Map;\n\npublic class App {\n    public static void main(String[] args) {\n        Pulumi.run(ctx -> {\n            var found = ReconcilecloudFunctions.getVm(GetVmArgs.builder().name(\"web\").build());\n            ctx.export(\"id\", found.applyValue(one -> one.id()));\n        });\n    }\n}\n```\n```yaml\nvariables:\n  found:\n    fn::invoke:\n      function: reconcile-cloud:getVm\n      arguments:\n        name: \"web\"\noutputs:\n  id: ${found.id}\n```\n{{% /example %}}\n{{% /examples %}}",
      "inputs": {
        "properties": {
          "name": {
            "type": "string",
            "description": "Its name."
          },
          "id": {
            "type": "string",
            "description": "Its id; instead of the name."
          }
        },
        "required": []
      },
      "outputs": {
        "properties": {
          "id": {
            "type": "string",
            "description": "Its id."
          },
          "name": {
            "type": "string",
            "description": "Its name."
          },
          "status": {
            "type": "string",
            "description": "Its state, in the service's own word."
          },
          "flavorId": {
            "type": "string",
            "description": "Its flavor."
          },
          "imageId": {
            "type": "string",
            "description": "Its image."
          },
          "owner": {
            "type": "string",
            "description": "Its owner."
          },
          "floatingIp": {
            "type": "string",
            "description": "Its public address."
          },
          "privateIp": {
            "type": "string",
            "description": "Its address in the private network."
          },
          "volumeIds": {
            "type": "array",
            "items": {
              "type": "string"
            },
            "description": "All its volumes, the root disk among them."
          },
          "rootVolumeId": {
            "type": "string",
            "description": "The root disk, where the service shows which of the volumes it is."
          },
          "rootSize": {
            "type": "integer",
            "description": "Its size in GB, where the service lists volumes."
          }
        },
        "required": [
          "id"
        ]
      }
    },
    "reconcile-cloud:index:getVolume": {
      "description": "Looks up a volume by its name or its id. It is an error when there is none, or when several have the name.\n\n{{% examples %}}\n## Example Usage\n{{% example %}}\n### By its name\n\n```typescript\nimport * as cloud from \"@reconcile-cloud/pulumi\";\n\nconst found = cloud.getVolumeOutput({ name: \"data\" });\nexport const id = found.id;\n```\n```python\nimport pulumi\nimport pulumi_reconcile_cloud as cloud\n\nfound = cloud.get_volume_output(name=\"data\")\npulumi.export(\"id\", found.id)\n```\n```go\npackage main\n\nimport (\n\t\"github.com/pulumi/pulumi/sdk/v3/go/pulumi\"\n\t\"github.com/reconcile-cloud/reconcile-cloud/sdk/go/reconcilecloud\"\n)\n\nfunc main() {\n\tpulumi.Run(func(ctx *pulumi.Context) error {\n\t\tfound := reconcilecloud.LookupVolumeOutput(ctx, reconcilecloud.LookupVolumeOutputArgs{Name: pulumi.String(\"data\")})\n\t\tctx.Export(\"id\", found.Id())\n\t\treturn nil\n\t})\n}\n```\n```csharp\nusing System.Collections.Generic;\nusing Pulumi;\nusing Cloud = ReconcileCloud.ReconcileCloud;\n\nreturn await Deployment.RunAsync(() =>\n{\n    var found = Cloud.GetVolume.Invoke(new() { Name = \"data\" });\n    return new Dictionary<string, object?> { [\"id\"] = found.Apply(one => one.Id) };\n});\n```\n```java\nimport com.pulumi.Pulumi;\nimport cloud.reconcile.reconcilecloud.*;\nimport cloud.reconcile.reconcilecloud.enums.*;\nimport cloud.reconcile.reconcilecloud.inputs.*;\nimport java.util.Map;\n\npublic class App {\n    public static void main(String[] args) {\n        Pulumi.run(ctx -> {\n            var found = ReconcilecloudFunctions.getVolume(GetVolumeArgs.builder().name(\"data\").build());\n            ctx.export(\"id\", found.applyValue(one -> one.id()));\n        });\n    }\n}\n```\n```yaml\nvariables:\n  found:\n    fn::invoke:\n      function: reconcile-cloud:getVolume\n      arguments:\n        name: \"data\"\noutputs:\n  id: ${found.id}\n```\n{{% /example %}}\n{{% /examples %}}",
      "inputs": {
        "properties": {
          "name": {
            "type": "string",
            "description": "Its name."
          },
          "id": {
            "type": "string",
            "description": "Its id; instead of the name."
          }
        },
        "required": []
      },
      "outputs": {
        "properties": {
          "id": {
            "type": "string",
            "description": "Its id."
          },
          "name": {
            "type": "string",
            "description": "Its name."
          },
          "size": {
            "type": "integer",
            "description": "Its size in GB."
          },
          "status": {
            "type": "string",
            "description": "Its state, in the service's own word."
          },
          "vmId": {
            "type": "string",
            "description": "The VM that it is attached to."
          }
        },
        "required": [
          "id"
        ]
      }
    },
    "reconcile-cloud:index:getSecurityGroup": {
      "description": "Looks up a security group by its name or its id. It is an error when there is none, or when several have the name.\n\n{{% examples %}}\n## Example Usage\n{{% example %}}\n### By its name\n\n```typescript\nimport * as cloud from \"@reconcile-cloud/pulumi\";\n\nconst found = cloud.getSecurityGroupOutput({ name: \"front\" });\nexport const id = found.id;\n```\n```python\nimport pulumi\nimport pulumi_reconcile_cloud as cloud\n\nfound = cloud.get_security_group_output(name=\"front\")\npulumi.export(\"id\", found.id)\n```\n```go\npackage main\n\nimport (\n\t\"github.com/pulumi/pulumi/sdk/v3/go/pulumi\"\n\t\"github.com/reconcile-cloud/reconcile-cloud/sdk/go/reconcilecloud\"\n)\n\nfunc main() {\n\tpulumi.Run(func(ctx *pulumi.Context) error {\n\t\tfound := reconcilecloud.LookupSecurityGroupOutput(ctx, reconcilecloud.LookupSecurityGroupOutputArgs{Name: pulumi.String(\"front\")})\n\t\tctx.Export(\"id\", found.Id())\n\t\treturn nil\n\t})\n}\n```\n```csharp\nusing System.Collections.Generic;\nusing Pulumi;\nusing Cloud = ReconcileCloud.ReconcileCloud;\n\nreturn await Deployment.RunAsync(() =>\n{\n    var found = Cloud.GetSecurityGroup.Invoke(new() { Name = \"front\" });\n    return new Dictionary<string, object?> { [\"id\"] = found.Apply(one => one.Id) };\n});\n```\n```java\nimport com.pulumi.Pulumi;\nimport cloud.reconcile.reconcilecloud.*;\nimport cloud.reconcile.reconcilecloud.enums.*;\nimport cloud.reconcile.reconcilecloud.inputs.*;\nimport java.util.Map;\n\npublic class App {\n    public static void main(String[] args) {\n        Pulumi.run(ctx -> {\n            var found = ReconcilecloudFunctions.getSecurityGroup(GetSecurityGroupArgs.builder().name(\"front\").build());\n            ctx.export(\"id\", found.applyValue(one -> one.id()));\n        });\n    }\n}\n```\n```yaml\nvariables:\n  found:\n    fn::invoke:\n      function: reconcile-cloud:getSecurityGroup\n      arguments:\n        name: \"front\"\noutputs:\n  id: ${found.id}\n```\n{{% /example %}}\n{{% /examples %}}",
      "inputs": {
        "properties": {
          "name": {
            "type": "string",
            "description": "Its name."
          },
          "id": {
            "type": "string",
            "description": "Its id; instead of the name."
          }
        },
        "required": []
      },
      "outputs": {
        "properties": {
          "id": {
            "type": "string",
            "description": "Its id."
          },
          "name": {
            "type": "string",
            "description": "Its name."
          },
          "description": {
            "type": "string",
            "description": "Its description."
          },
          "rules": {
            "type": "array",
            "items": {
              "$ref": "#/types/reconcile-cloud:index:GetSecurityGroupResultRulesItem"
            },
            "description": "Its rules, those that the service made by itself among them."
          }
        },
        "required": [
          "id"
        ]
      }
    },
    "reconcile-cloud:index:getFlavors": {
      "description": "Lists the flavors that the service shows, all or those that fit, sorted by name. None is no error.\n\n{{% examples %}}\n## Example Usage\n{{% example %}}\n### By a pattern\n\n```typescript\nimport * as cloud from \"@reconcile-cloud/pulumi\";\n\nconst found = cloud.getFlavorsOutput({ name: \"m1.*\" });\nexport const ids = found.ids;\n```\n```python\nimport pulumi\nimport pulumi_reconcile_cloud as cloud\n\nfound = cloud.get_flavors_output(name=\"m1.*\")\npulumi.export(\"ids\", found.ids)\n```\n```go\npackage main\n\nimport (\n\t\"github.com/pulumi/pulumi/sdk/v3/go/pulumi\"\n\t\"github.com/reconcile-cloud/reconcile-cloud/sdk/go/reconcilecloud\"\n)\n\nfunc main() {\n\tpulumi.Run(func(ctx *pulumi.Context) error {\n\t\tfound := reconcilecloud.GetFlavorsOutput(ctx, reconcilecloud.GetFlavorsOutputArgs{Name: pulumi.String(\"m1.*\")})\n\t\tctx.Export(\"ids\", found.Ids())\n\t\treturn nil\n\t})\n}\n```\n```csharp\nusing System.Collections.Generic;\nusing Pulumi;\nusing Cloud = ReconcileCloud.ReconcileCloud;\n\nreturn await Deployment.RunAsync(() =>\n{\n    var found = Cloud.GetFlavors.Invoke(new() { Name = \"m1.*\" });\n    return new Dictionary<string, object?> { [\"ids\"] = found.Apply(one => one.Ids) };\n});\n```\n```java\nimport com.pulumi.Pulumi;\nimport cloud.reconcile.reconcilecloud.*;\nimport cloud.reconcile.reconcilecloud.enums.*;\nimport cloud.reconcile.reconcilecloud.inputs.*;\nimport java.util.Map;\n\npublic class App {\n    public static void main(String[] args) {\n        Pulumi.run(ctx -> {\n            var found = ReconcilecloudFunctions.getFlavors(GetFlavorsArgs.builder().name(\"m1.*\").build());\n            ctx.export(\"ids\", found.applyValue(one -> one.ids()));\n        });\n    }\n}\n```\n```yaml\nvariables:\n  found:\n    fn::invoke:\n      function: reconcile-cloud:getFlavors\n      arguments:\n        name: \"m1.*\"\noutputs:\n  ids: ${found.ids}\n```\n{{% /example %}}\n{{% /examples %}}",
      "inputs": {
        "properties": {
          "name": {
            "type": "string",
            "description": "Only those whose name fits, in either case; * stands for anything, as in web-*."
          },
          "newestFirst": {
            "type": "boolean",
            "description": "Sorts from the highest name to the lowest, with numbers in names as numbers: of names that end in a version, the newest comes first."
          }
        },
        "required": []
      },
      "outputs": {
        "properties": {
          "flavors": {
            "type": "array",
            "items": {
              "$ref": "#/types/reconcile-cloud:index:GetFlavorsResultFlavorsItem"
            },
            "description": "The flavors that fit."
          },
          "ids": {
            "type": "array",
            "items": {
              "type": "string"
            },
            "description": "The ids, in the same order."
          }
        },
        "required": [
          "flavors",
          "ids"
        ]
      }
    },
    "reconcile-cloud:index:getImages": {
      "description": "Lists the images that the service shows, all or those that fit, sorted by name. None is no error.\n\n{{% examples %}}\n## Example Usage\n{{% example %}}\n### By a pattern\n\n```typescript\nimport * as cloud from \"@reconcile-cloud/pulumi\";\n\nconst found = cloud.getImagesOutput({ name: \"ubuntu-*\" });\nexport const ids = found.ids;\n```\n```python\nimport pulumi\nimport pulumi_reconcile_cloud as cloud\n\nfound = cloud.get_images_output(name=\"ubuntu-*\")\npulumi.export(\"ids\", found.ids)\n```\n```go\npackage main\n\nimport (\n\t\"github.com/pulumi/pulumi/sdk/v3/go/pulumi\"\n\t\"github.com/reconcile-cloud/reconcile-cloud/sdk/go/reconcilecloud\"\n)\n\nfunc main() {\n\tpulumi.Run(func(ctx *pulumi.Context) error {\n\t\tfound := reconcilecloud.GetImagesOutput(ctx, reconcilecloud.GetImagesOutputArgs{Name: pulumi.String(\"ubuntu-*\")})\n\t\tctx.Export(\"ids\", found.Ids())\n\t\treturn nil\n\t})\n}\n```\n```csharp\nusing System.Collections.Generic;\nusing Pulumi;\nusing Cloud = ReconcileCloud.ReconcileCloud;\n\nreturn await Deployment.RunAsync(() =>\n{\n    var found = Cloud.GetImages.Invoke(new() { Name = \"ubuntu-*\" });\n    return new Dictionary<string, object?> { [\"ids\"] = found.Apply(one => one.Ids) };\n});\n```\n```java\nimport com.pulumi.Pulumi;\nimport cloud.reconcile.reconcilecloud.*;\nimport cloud.reconcile.reconcilecloud.enums.*;\nimport cloud.reconcile.reconcilecloud.inputs.*;\nimport java.util.Map;\n\npublic class App {\n    public static void main(String[] args) {\n        Pulumi.run(ctx -> {\n            var found = ReconcilecloudFunctions.getImages(GetImagesArgs.builder().name(\"ubuntu-*\").build());\n            ctx.export(\"ids\", found.applyValue(one -> one.ids()));\n        });\n    }\n}\n```\n```yaml\nvariables:\n  found:\n    fn::invoke:\n      function: reconcile-cloud:getImages\n      arguments:\n        name: \"ubuntu-*\"\noutputs:\n  ids: ${found.ids}\n```\n{{% /example %}}\n{{% /examples %}}",
      "inputs": {
        "properties": {
          "name": {
            "type": "string",
            "description": "Only those whose name fits, in either case; * stands for anything, as in web-*."
          },
          "newestFirst": {
            "type": "boolean",
            "description": "Sorts from the highest name to the lowest, with numbers in names as numbers: of names that end in a version, the newest comes first."
          }
        },
        "required": []
      },
      "outputs": {
        "properties": {
          "images": {
            "type": "array",
            "items": {
              "$ref": "#/types/reconcile-cloud:index:GetImagesResultImagesItem"
            },
            "description": "The images that fit."
          },
          "ids": {
            "type": "array",
            "items": {
              "type": "string"
            },
            "description": "The ids, in the same order."
          }
        },
        "required": [
          "images",
          "ids"
        ]
      }
    },
    "reconcile-cloud:index:getRegions": {
      "description": "Lists the regions that the service shows, all or those that fit, sorted by name. None is no error.\n\n{{% examples %}}\n## Example Usage\n{{% example %}}\n### By a pattern\n\n```typescript\nimport * as cloud from \"@reconcile-cloud/pulumi\";\n\nconst found = cloud.getRegionsOutput({ name: \"in-*\" });\nexport const ids = found.ids;\n```\n```python\nimport pulumi\nimport pulumi_reconcile_cloud as cloud\n\nfound = cloud.get_regions_output(name=\"in-*\")\npulumi.export(\"ids\", found.ids)\n```\n```go\npackage main\n\nimport (\n\t\"github.com/pulumi/pulumi/sdk/v3/go/pulumi\"\n\t\"github.com/reconcile-cloud/reconcile-cloud/sdk/go/reconcilecloud\"\n)\n\nfunc main() {\n\tpulumi.Run(func(ctx *pulumi.Context) error {\n\t\tfound := reconcilecloud.GetRegionsOutput(ctx, reconcilecloud.GetRegionsOutputArgs{Name: pulumi.String(\"in-*\")})\n\t\tctx.Export(\"ids\", found.Ids())\n\t\treturn nil\n\t})\n}\n```\n```csharp\nusing System.Collections.Generic;\nusing Pulumi;\nusing Cloud = ReconcileCloud.ReconcileCloud;\n\nreturn await Deployment.RunAsync(() =>\n{\n    var found = Cloud.GetRegions.Invoke(new() { Name = \"in-*\" });\n    return new Dictionary<string, object?> { [\"ids\"] = found.Apply(one => one.Ids) };\n});\n```\n```java\nimport com.pulumi.Pulumi;\nimport cloud.reconcile.reconcilecloud.*;\nimport cloud.reconcile.reconcilecloud.enums.*;\nimport cloud.reconcile.reconcilecloud.inputs.*;\nimport java.util.Map;\n\npublic class App {\n    public static void main(String[] args) {\n        Pulumi.run(ctx -> {\n            var found = ReconcilecloudFunctions.getRegions(GetRegionsArgs.builder().name(\"in-*\").build());\n            ctx.export(\"ids\", found.applyValue(one -> one.ids()));\n        });\n    }\n}\n```\n```yaml\nvariables:\n  found:\n    fn::invoke:\n      function: reconcile-cloud:getRegions\n      arguments:\n        name: \"in-*\"\noutputs:\n  ids: ${found.ids}\n```\n{{% /example %}}\n{{% /examples %}}",
      "inputs": {
        "properties": {
          "name": {
            "type": "string",
            "description": "Only those whose name fits, in either case; * stands for anything, as in web-*."
          },
          "newestFirst": {
            "type": "boolean",
            "description": "Sorts from the highest name to the lowest, with numbers in names as numbers: of names that end in a version, the newest comes first."
          }
        },
        "required": []
      },
      "outputs": {
        "properties": {
          "regions": {
            "type": "array",
            "items": {
              "$ref": "#/types/reconcile-cloud:index:GetRegionsResultRegionsItem"
            },
            "description": "The regions that fit."
          },
          "ids": {
            "type": "array",
            "items": {
              "type": "string"
            },
            "description": "The ids, in the same order."
          }
        },
        "required": [
          "regions",
          "ids"
        ]
      }
    },
    "reconcile-cloud:index:getVms": {
      "description": "Lists the VMs that the service shows, all or those that fit, sorted by name. None is no error.\n\n{{% examples %}}\n## Example Usage\n{{% example %}}\n### By a pattern\n\n```typescript\nimport * as cloud from \"@reconcile-cloud/pulumi\";\n\nconst found = cloud.getVmsOutput({ name: \"web-*\" });\nexport const ids = found.ids;\n```\n```python\nimport pulumi\nimport pulumi_reconcile_cloud as cloud\n\nfound = cloud.get_vms_output(name=\"web-*\")\npulumi.export(\"ids\", found.ids)\n```\n```go\npackage main\n\nimport (\n\t\"github.com/pulumi/pulumi/sdk/v3/go/pulumi\"\n\t\"github.com/reconcile-cloud/reconcile-cloud/sdk/go/reconcilecloud\"\n)\n\nfunc main() {\n\tpulumi.Run(func(ctx *pulumi.Context) error {\n\t\tfound := reconcilecloud.GetVmsOutput(ctx, reconcilecloud.GetVmsOutputArgs{Name: pulumi.String(\"web-*\")})\n\t\tctx.Export(\"ids\", found.Ids())\n\t\treturn nil\n\t})\n}\n```\n```csharp\nusing System.Collections.Generic;\nusing Pulumi;\nusing Cloud = ReconcileCloud.ReconcileCloud;\n\nreturn await Deployment.RunAsync(() =>\n{\n    var found = Cloud.GetVms.Invoke(new() { Name = \"web-*\" });\n    return new Dictionary<string, object?> { [\"ids\"] = found.Apply(one => one.Ids) };\n});\n```\n```java\nimport com.pulumi.Pulumi;\nimport cloud.reconcile.reconcilecloud.*;\nimport cloud.reconcile.reconcilecloud.enums.*;\nimport cloud.reconcile.reconcilecloud.inputs.*;\nimport java.util.Map;\n\npublic class App {\n    public static void main(String[] args) {\n        Pulumi.run(ctx -> {\n            var found = ReconcilecloudFunctions.getVms(GetVmsArgs.builder().name(\"web-*\").build());\n            ctx.export(\"ids\", found.applyValue(one -> one.ids()));\n        });\n    }\n}\n```\n```yaml\nvariables:\n  found:\n    fn::invoke:\n      function: reconcile-cloud:getVms\n      arguments:\n        name: \"web-*\"\noutputs:\n  ids: ${found.ids}\n```\n{{% /example %}}\n{{% /examples %}}",
      "inputs": {
        "properties": {
          "name": {
            "type": "string",
            "description": "Only those whose name fits, in either case; * stands for anything, as in web-*."
          },
          "status": {
            "type": "string",
            "description": "Only those with this value of status."
          },
          "flavorId": {
            "type": "string",
            "description": "Only those with this value of flavorId."
          },
          "imageId": {
            "type": "string",
            "description": "Only those with this value of imageId."
          },
          "owner": {
            "type": "string",
            "description": "Only those with this value of owner."
          },
          "newestFirst": {
            "type": "boolean",
            "description": "Sorts from the highest name to the lowest, with numbers in names as numbers: of names that end in a version, the newest comes first."
          }
        },
        "required": []
      },
      "outputs": {
        "properties": {
          "vms": {
            "type": "array",
            "items": {
              "$ref": "#/types/reconcile-cloud:index:GetVmsResultVmsItem"
            },
            "description": "The VMs that fit."
          },
          "ids": {
            "type": "array",
            "items": {
              "type": "string"
            },
            "description": "The ids, in the same order."
          }
        },
        "required": [
          "vms",
          "ids"
        ]
      }
    },
    "reconcile-cloud:index:getVolumes": {
      "description": "Lists the volumes that the service shows, all or those that fit, sorted by name. None is no error.\n\n{{% examples %}}\n## Example Usage\n{{% example %}}\n### By a pattern\n\n```typescript\nimport * as cloud from \"@reconcile-cloud/pulumi\";\n\nconst found = cloud.getVolumesOutput({ name: \"data-*\" });\nexport const ids = found.ids;\n```\n```python\nimport pulumi\nimport pulumi_reconcile_cloud as cloud\n\nfound = cloud.get_volumes_output(name=\"data-*\")\npulumi.export(\"ids\", found.ids)\n```\n```go\npackage main\n\nimport (\n\t\"github.com/pulumi/pulumi/sdk/v3/go/pulumi\"\n\t\"github.com/reconcile-cloud/reconcile-cloud/sdk/go/reconcilecloud\"\n)\n\nfunc main() {\n\tpulumi.Run(func(ctx *pulumi.Context) error {\n\t\tfound := reconcilecloud.GetVolumesOutput(ctx, reconcilecloud.GetVolumesOutputArgs{Name: pulumi.String(\"data-*\")})\n\t\tctx.Export(\"ids\", found.Ids())\n\t\treturn nil\n\t})\n}\n```\n```csharp\nusing System.Collections.Generic;\nusing Pulumi;\nusing Cloud = ReconcileCloud.ReconcileCloud;\n\nreturn await Deployment.RunAsync(() =>\n{\n    var found = Cloud.GetVolumes.Invoke(new() { Name = \"data-*\" });\n    return new Dictionary<string, object?> { [\"ids\"] = found.Apply(one => one.Ids) };\n});\n```\n```java\nimport com.pulumi.Pulumi;\nimport cloud.reconcile.reconcilecloud.*;\nimport cloud.reconcile.reconcilecloud.enums.*;\nimport cloud.reconcile.reconcilecloud.inputs.*;\nimport java.util.Map;\n\npublic class App {\n    public static void main(String[] args) {\n        Pulumi.run(ctx -> {\n            var found = ReconcilecloudFunctions.getVolumes(GetVolumesArgs.builder().name(\"data-*\").build());\n            ctx.export(\"ids\", found.applyValue(one -> one.ids()));\n        });\n    }\n}\n```\n```yaml\nvariables:\n  found:\n    fn::invoke:\n      function: reconcile-cloud:getVolumes\n      arguments:\n        name: \"data-*\"\noutputs:\n  ids: ${found.ids}\n```\n{{% /example %}}\n{{% /examples %}}",
      "inputs": {
        "properties": {
          "name": {
            "type": "string",
            "description": "Only those whose name fits, in either case; * stands for anything, as in web-*."
          },
          "status": {
            "type": "string",
            "description": "Only those with this value of status."
          },
          "vmId": {
            "type": "string",
            "description": "Only those with this value of vmId."
          },
          "newestFirst": {
            "type": "boolean",
            "description": "Sorts from the highest name to the lowest, with numbers in names as numbers: of names that end in a version, the newest comes first."
          }
        },
        "required": []
      },
      "outputs": {
        "properties": {
          "volumes": {
            "type": "array",
            "items": {
              "$ref": "#/types/reconcile-cloud:index:GetVolumesResultVolumesItem"
            },
            "description": "The volumes that fit."
          },
          "ids": {
            "type": "array",
            "items": {
              "type": "string"
            },
            "description": "The ids, in the same order."
          }
        },
        "required": [
          "volumes",
          "ids"
        ]
      }
    },
    "reconcile-cloud:index:getSecurityGroups": {
      "description": "Lists the security groups that the service shows, all or those that fit, sorted by name. None is no error.\n\n{{% examples %}}\n## Example Usage\n{{% example %}}\n### By a pattern\n\n```typescript\nimport * as cloud from \"@reconcile-cloud/pulumi\";\n\nconst found = cloud.getSecurityGroupsOutput({ name: \"web-*\" });\nexport const ids = found.ids;\n```\n```python\nimport pulumi\nimport pulumi_reconcile_cloud as cloud\n\nfound = cloud.get_security_groups_output(name=\"web-*\")\npulumi.export(\"ids\", found.ids)\n```\n```go\npackage main\n\nimport (\n\t\"github.com/pulumi/pulumi/sdk/v3/go/pulumi\"\n\t\"github.com/reconcile-cloud/reconcile-cloud/sdk/go/reconcilecloud\"\n)\n\nfunc main() {\n\tpulumi.Run(func(ctx *pulumi.Context) error {\n\t\tfound := reconcilecloud.GetSecurityGroupsOutput(ctx, reconcilecloud.GetSecurityGroupsOutputArgs{Name: pulumi.String(\"web-*\")})\n\t\tctx.Export(\"ids\", found.Ids())\n\t\treturn nil\n\t})\n}\n```\n```csharp\nusing System.Collections.Generic;\nusing Pulumi;\nusing Cloud = ReconcileCloud.ReconcileCloud;\n\nreturn await Deployment.RunAsync(() =>\n{\n    var found = Cloud.GetSecurityGroups.Invoke(new() { Name = \"web-*\" });\n    return new Dictionary<string, object?> { [\"ids\"] = found.Apply(one => one.Ids) };\n});\n```\n```java\nimport com.pulumi.Pulumi;\nimport cloud.reconcile.reconcilecloud.*;\nimport cloud.reconcile.reconcilecloud.enums.*;\nimport cloud.reconcile.reconcilecloud.inputs.*;\nimport java.util.Map;\n\npublic class App {\n    public static void main(String[] args) {\n        Pulumi.run(ctx -> {\n            var found = ReconcilecloudFunctions.getSecurityGroups(GetSecurityGroupsArgs.builder().name(\"web-*\").build());\n            ctx.export(\"ids\", found.applyValue(one -> one.ids()));\n        });\n    }\n}\n```\n```yaml\nvariables:\n  found:\n    fn::invoke:\n      function: reconcile-cloud:getSecurityGroups\n      arguments:\n        name: \"web-*\"\noutputs:\n  ids: ${found.ids}\n```\n{{% /example %}}\n{{% /examples %}}",
      "inputs": {
        "properties": {
          "name": {
            "type": "string",
            "description": "Only those whose name fits, in either case; * stands for anything, as in web-*."
          },
          "newestFirst": {
            "type": "boolean",
            "description": "Sorts from the highest name to the lowest, with numbers in names as numbers: of names that end in a version, the newest comes first."
          }
        },
        "required": []
      },
      "outputs": {
        "properties": {
          "securityGroups": {
            "type": "array",
            "items": {
              "$ref": "#/types/reconcile-cloud:index:GetSecurityGroupsResultSecurityGroupsItem"
            },
            "description": "The security groups that fit."
          },
          "ids": {
            "type": "array",
            "items": {
              "type": "string"
            },
            "description": "The ids, in the same order."
          }
        },
        "required": [
          "securityGroups",
          "ids"
        ]
      }
    }
  },
  "language": {
    "nodejs": {
      "packageName": "@reconcile-cloud/pulumi",
      "respectSchemaVersion": true
    },
    "python": {
      "packageName": "pulumi_reconcile_cloud",
      "respectSchemaVersion": true,
      "pyproject": {
        "enabled": true
      }
    },
    "go": {
      "importBasePath": "github.com/reconcile-cloud/reconcile-cloud/sdk/go/reconcilecloud",
      "rootPackageName": "reconcilecloud",
      "generateResourceContainerTypes": true,
      "respectSchemaVersion": true
    },
    "csharp": {
      "rootNamespace": "ReconcileCloud",
      "namespaces": {
        "reconcile-cloud": "ReconcileCloud"
      },
      "respectSchemaVersion": true
    },
    "java": {
      "basePackage": "cloud.reconcile",
      "buildFiles": "gradle"
    }
  }
};
