// An app that imports CourierMQTT also gets CourierCore, which declares the public API of the client.
@_exported public import CourierCore
