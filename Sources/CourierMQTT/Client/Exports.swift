// The contract comes with its implementation: an app that imports the client means both.
@_exported public import CourierCore
