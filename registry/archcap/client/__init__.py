"""What an engine asks the registry with, in place of hardcoded sets. Standard library only, nothing else of archcap.

`Client` is all an engine needs. Importing this touches no network and no file. Modules that cost time to import
(sockets, TLS, processes) are imported where they are used, because every rank of an engine pays for them.
"""

from archcap.client.capability_set import CapabilitySet
from archcap.client.core import Client
from archcap.client.deadline import ClientError
from archcap.client.source import Source

__all__ = ["CapabilitySet", "Client", "ClientError", "Source"]
