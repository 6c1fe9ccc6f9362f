import Foundation
import TrialSupport

/// Three RabbitMQ nodes on loopback, with their own registry.
final class RabbitCluster {
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    /// How long a node may take until it accepts connections.
    private static let patience = Duration.seconds(120)

    let nodes: [RabbitNode]
    private let site: RabbitNode.Site

    init() throws {
        let folder = try TemporaryFolder()
        let suffix = folder.path.suffix(6).lowercased().filter(\.isLetter)
        site = RabbitNode.Site(
            folder: folder, registryPort: try LocalPort.free(), names: (1...3).map { "courier\(suffix)\($0)" })
        nodes = try (0..<3).map { [site] in try RabbitNode($0, of: site) }
    }

    /// Starts all nodes and waits until each accepts connections.
    func start() async throws {
        for node in nodes { try node.start() }
        for node in nodes { try await waitUntilReady(node) }
    }

    /// Starts a node again after it was killed.
    func restart(_ node: RabbitNode) async throws {
        try node.start()
        try await waitUntilReady(node)
    }

    private func waitUntilReady(_ node: RabbitNode) async throws {
        let end = ContinuousClock.now + Self.patience
        // RabbitMQ reports readiness in no other way, so its port is polled.
        while !node.isReady {
            guard .now < end else { throw Failure(description: "\(node.name) did not start:\n\(node.lastWords)") }
            try await Task.sleep(for: .milliseconds(100))
        }
    }

    /// Ends all nodes and their registry, and removes their files.
    func end() {
        for node in nodes { node.kill() }
        // The registry does not end while it lists a node as alive.
        let end = ContinuousClock.now + .seconds(5)
        while !site.endRegistry(), .now < end { Thread.sleep(forTimeInterval: 0.1) }
        site.folder.remove()
    }
}

/// Prints a line and flushes it, so that it appears at once in a pipe, too.
func say(_ text: String) {
    print(text)
    fflush(nil)
}
