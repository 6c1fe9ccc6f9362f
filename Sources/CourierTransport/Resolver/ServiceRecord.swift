/// One DNS SRV record (RFC 2782): a host and port where a domain offers a service.
package struct ServiceRecord: Hashable, Sendable {
    /// The priority. Targets with lower numbers are tried first.
    package let priority: UInt16
    /// The weight among targets with the same priority. A target with a higher weight gets more connections.
    package let weight: UInt16
    package let port: UInt16
    /// The host name without a final dot. It is empty if the domain states that it does not offer the service.
    package let target: String

    package init(priority: UInt16, weight: UInt16, port: UInt16, target: String) {
        self.priority = priority
        self.weight = weight
        self.port = port
        self.target = target
    }
}
