public import Foundation

/// The findings of an adaptive keep-alive about networks, for the next connection and the next start of the app.
///
/// Encode and store it, and set ``AdaptiveKeepAlive/memory`` to it at the next start. Changed findings, or findings for
/// other bounds, do no harm, because the client stays within its own bounds.
public struct KeepAliveMemory: Hashable, Sendable {
    /// The finding for one network.
    public struct Finding: Codable, Hashable, Sendable {
        /// The network's name, as ``AdaptiveKeepAlive/network`` gives it.
        public let network: String
        /// The longest interval that a connection has survived there, or the shortest allowed one.
        public let interval: Duration
        /// The shortest interval that no connection has survived; `nil` if none has failed.
        public let failedInterval: Duration?
        /// The time of this finding.
        public let date: Date
    }

    /// The number of networks that are remembered, 64. A further network replaces the least recently used one.
    public static let limit = 64

    /// The findings. The most recently used network is the last.
    public private(set) var findings: [Finding]

    /// Remembers nothing.
    public init() { findings = [] }

    /// The finding for `network`; `nil` if there is none.
    ///
    /// - Parameter network: The network's name.
    public subscript(network: String) -> Finding? { findings.first { $0.network == network } }

    /// Replaces the finding of the same network, and moves it to the end.
    mutating func keep(_ finding: Finding) {
        findings.removeAll { $0.network == finding.network }
        findings.append(finding)
        findings.removeFirst(max(findings.count - Self.limit, 0))
    }
}

extension KeepAliveMemory: Codable {
    private enum CodingKeys: CodingKey { case findings }

    /// Decodes a memory, and keeps at most ``limit`` networks.
    ///
    /// - Parameter decoder: Where it is read from.
    /// - Throws: What the decoder throws.
    public init(from decoder: any Decoder) throws {
        self.init()
        for finding in try decoder.container(keyedBy: CodingKeys.self).decode([Finding].self, forKey: .findings) {
            keep(finding)
        }
    }
}
