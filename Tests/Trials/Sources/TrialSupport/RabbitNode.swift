import Foundation
import Glibc

/// One node of a RabbitMQ cluster, with its own folder for all its files.
package final class RabbitNode {
    /// The settings that the nodes of a cluster share.
    package struct Site {
        package let folder: TemporaryFolder
        /// The port of the cluster's own registry. It keeps the nodes apart from a RabbitMQ that runs on this machine.
        let registryPort: UInt16
        let names: [String]

        package init(folder: TemporaryFolder, registryPort: UInt16, names: [String]) {
            self.folder = folder
            self.registryPort = registryPort
            self.names = names
        }

        /// Ends the registry of the nodes. Returns false if the registry still lists a node as alive.
        package func endRegistry() -> Bool {
            let said = try? ChildProcess.run(["/usr/bin/env", "ERL_EPMD_PORT=\(registryPort)", "epmd", "-kill"])
            return said.map { !String(decoding: $0, as: UTF8.self).contains("not allowed") } ?? false
        }
    }

    private static let programs = "/usr/lib/rabbitmq/bin/"

    package let name: String
    package let port: UInt16
    private let site: Site
    private let home: String
    private let distributionPort: UInt16
    private var process: ChildProcess?

    package init(_ index: Int, of site: Site) throws {
        name = site.names[index]
        self.site = site
        home = site.folder.file(name)
        port = try LocalPort.free()
        distributionPort = try LocalPort.free()
        try FileManager.default.createDirectory(atPath: home, withIntermediateDirectories: true)
        try Data(configuration.utf8).write(to: URL(fileURLWithPath: home + "/rabbit.conf"))
        try Data("[rabbitmq_mqtt].".utf8).write(to: URL(fileURLWithPath: home + "/plugins"))
    }

    /// The node's configuration. The queues are quorum queues, so that they survive the loss of one node.
    private var configuration: String {
        """
        listeners.tcp = none
        mqtt.listeners.tcp.1 = 127.0.0.1:\(port)
        mqtt.allow_anonymous = true
        mqtt.durable_queue_type = quorum
        loopback_users = none
        log.console = false
        cluster_formation.peer_discovery_backend = classic_config

        """
            + site.names.enumerated().map { "cluster_formation.classic_config.nodes.\($0 + 1) = \($1)@localhost\n" }
            .joined()
    }

    private var environment: [String] {
        let own = "-kernel inet_dist_use_interface {127,0,0,1} -setcookie courier"
        return [
            "HOME=\(home)", "RABBITMQ_NODENAME=\(name)@localhost", "RABBITMQ_DIST_PORT=\(distributionPort)",
            "ERL_EPMD_PORT=\(site.registryPort)", "ERL_EPMD_ADDRESS=127.0.0.1", "ERL_CRASH_DUMP=/dev/null",
            "RABBITMQ_MNESIA_BASE=\(home)/data", "RABBITMQ_LOG_BASE=\(home)/log",
            "RABBITMQ_CONFIG_FILE=\(home)/rabbit", "RABBITMQ_ENABLED_PLUGINS_FILE=\(home)/plugins",
            "RABBITMQ_PID_FILE=\(home)/pid", "RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS=+S 1:1 +sbwt none \(own)",
        ]
    }

    /// Starts the node. The node is ready when `isReady` is true.
    package func start() throws {
        process = try ChildProcess(["/usr/bin/env"] + environment + [Self.programs + "rabbitmq-server"])
    }

    /// Ends the node with SIGKILL, like a power failure.
    package func kill() {
        let text = (try? String(contentsOfFile: home + "/pid", encoding: .utf8)) ?? ""
        if let id = pid_t(text.trimmingCharacters(in: .whitespacesAndNewlines)) { Glibc.kill(id, SIGKILL) }
        // The process id may soon belong to another process.
        try? FileManager.default.removeItem(atPath: home + "/pid")
        process?.end(by: SIGKILL)
        process = nil
    }

    /// True if the node's port accepts connections.
    package var isReady: Bool { LocalPort.takesConnections(port) }

    /// The last lines of the node's log, for a report.
    package var lastWords: String {
        let log = (try? String(contentsOfFile: home + "/log/\(name)@localhost.log", encoding: .utf8)) ?? ""
        return log.split(separator: "\n").suffix(5).joined(separator: "\n")
    }
}
