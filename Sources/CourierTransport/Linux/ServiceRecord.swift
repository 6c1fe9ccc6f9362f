/// Where a domain offers a service: one SRV record of DNS (RFC 2782).
package struct ServiceRecord: Hashable, Sendable {
    /// Targets of a lower number are to be tried first.
    package let priority: UInt16
    /// The share among targets of the same priority.
    package let weight: UInt16
    package let port: UInt16
    /// The host name, without a dot at its end; empty where the domain says that it does not have the service.
    package let target: String

    package init(priority: UInt16, weight: UInt16, port: UInt16, target: String) {
        self.priority = priority
        self.weight = weight
        self.port = port
        self.target = target
    }
}
