@rem Pulumi starts a plugin on Windows by this name.
@node "%~dp0pulumi-resource-reconcile-cloud" %*
