public import Foundation

/// The ping intervals (findings) that an adaptive keep-alive measured for networks. The client uses them for its next
/// connections. The app can store them for its next start.
///
/// Encode and store the memory, and set ``AdaptiveKeepAlive/memory`` to it at the next start. Findings may be edited,
/// or may come from a client with other bounds: the client uses only intervals within its own bounds.
public struct KeepAliveMemory: Hashable, Sendable {
    /// The intervals that connections on one network survived or did not survive.
    public struct Finding: Codable, Hashable, Sendable {
        /// The network's name, as ``AdaptiveKeepAlive/network`` returns it.
        public let network: String
        /// The longest interval that a connection on this network has survived. If no connection has survived an
        /// interval, the value is the shortest allowed interval.
        public let interval: Duration
        /// The shortest interval that a connection did not survive; `nil` if there is none.
        public let failedInterval: Duration?
        /// The time of this finding.
        public let date: Date
    }

    /// The maximum number of networks that are remembered, 64. A further network replaces the least recently used
    /// network.
    public static let limit = 64

    /// The findings, at most one for each network. The most recently used network is the last.
    public private(set) var findings: [Finding]

    /// Makes a memory without findings.
    public init() { findings = [] }

    /// The finding for `network`; `nil` if there is none.
    ///
    /// - Parameter network: The network's name.
    public subscript(network: String) -> Finding? { findings.first { $0.network == network } }

    /// Adds a finding at the end, and removes the earlier finding for the same network. If there are too many networks,
    /// removes the least recently used network.
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
    /// - Parameter decoder: The decoder to read from.
    /// - Throws: The error of the decoder.
    public init(from decoder: any Decoder) throws {
        self.init()
        for finding in try decoder.container(keyedBy: CodingKeys.self).decode([Finding].self, forKey: .findings) {
            keep(finding)
        }
    }
}
