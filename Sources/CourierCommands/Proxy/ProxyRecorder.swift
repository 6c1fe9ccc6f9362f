import CommandArguments
import CourierCore
import CourierMQTTChuck
import CourierMQTTChuckSQLite
import CourierMQTTChuckWeb
import CourierTesting
import Foundation
import MQTTCodec
import Synchronization

/// Records the packets that `courier proxy` has forwarded, for `--record` and `--inspect`.
///
/// The packets pass through a logger, which overwrites passwords. Each packet is written to the file before the next
/// packet is forwarded. Only an archive is written later, by its own thread.
final class ProxyRecorder: Sendable {
    private struct State: ~Copyable {
        var connections: [Int: ObservedConnection] = [:]
        var export: GrowingExport?
        /// The file of ``export``.
        var target: ExportTarget?
        /// The reason why no more packets are written to the file; `nil` while packets are written.
        var failure: String?
    }

    private let broker: HostAndPort
    private let logger: MQTTChuckLogger
    private let archive: MQTTChuckArchive?
    private let server: MQTTChuckServer?
    private let console: Console
    private let state = Mutex(State())

    /// Opens the inspector's web page, and the file if it is an archive. ``begin(_:)`` opens any other file.
    ///
    /// - Parameters:
    ///   - settings: The options of the command line.
    ///   - broker: The broker that the recording names.
    ///   - console: Prints the address of the page, and errors.
    /// - Throws: An error if the archive cannot be opened, or the page cannot be served.
    init(_ settings: ProxyArguments, to broker: HostAndPort, _ console: Console) throws {
        self.broker = broker
        self.console = console
        var options = MQTTChuckOptions()
        options.packetMaxSize = FaultProxy.heldPacketSize
        options.logsMaxAge = nil
        logger = MQTTChuckLogger(options: options)
        switch (settings.recordPath, settings.recordFormat) {
        case (let path?, .archive):
            let archive = try MQTTChuckArchive(of: logger, at: URL(fileURLWithPath: path))
            if let file = archive.status.quarantinedFile {
                console.tell("Warning: \(path) was not a valid archive; the file was renamed to \(file.url.path).")
            }
            self.archive = archive
        case (_?, .jsonLines), (_?, .pcapng), (nil, _): archive = nil
        }
        server = settings.isInspected ? try logger.serve() : nil
        if let server { console.writeToErrors("Inspector: \(server.url.absoluteString)\n") }
    }

    /// Opens the file, unless it is an archive, and writes its beginning. Call this function only when the proxy
    /// listens, because an existing file is emptied. If another proxy already uses the port, that proxy may still write
    /// to the file.
    ///
    /// - Parameter settings: The options of the command line.
    /// - Throws: An error if the file cannot be written.
    func begin(_ settings: ProxyArguments) throws {
        let format: MQTTChuckExportFormat
        switch settings.recordFormat {
        case .jsonLines: format = .jsonLines
        case .pcapng: format = .pcapng
        case .archive: return
        }
        guard let path = settings.recordPath else { return }
        try state.withLock { state in
            let export = GrowingExport(of: logger, format)
            state.target = try ExportTarget(path, of: nil, console)
            try state.target?.write(export.header())
            state.export = export
        }
    }

    /// Records an event. The proxy calls this method on its loop.
    func observed(_ event: ProxyEvent) {
        switch event {
        case .opened: break
        case .closed(let number, _): state.withLock { _ = $0.connections.removeValue(forKey: number) }
        case .packet(let packet): record(packet)
        }
    }

    private func record(_ packet: ProxiedPacket) {
        let problem = state.withLock { state -> String? in
            let connection = Self.connection(of: packet, to: broker, &state.connections)
            guard packet.copyCount > 0 else { return nil }
            guard packet.bytes.count == packet.byteCount else {
                return
                    "connection \(packet.connection): a packet of \(packet.byteCount) bytes is too large for the recording"
            }
            for _ in 0..<packet.copyCount {
                logger.observed(
                    PacketBatch(
                        direction: packet.sender == .client ? .outgoing : .incoming, bytes: packet.bytes,
                        time: packet.time, connection: connection))
            }
            return write(&state)
        }
        if let problem { console.tell("Warning: \(problem)") }
    }

    /// Writes new rows to the file. The first time that a write fails, returns the problem; otherwise returns `nil`.
    private func write(_ state: inout State) -> String? {
        guard state.failure == nil, let data = state.export?.newRows() else { return nil }
        do {
            try state.target?.write(data)
            return nil
        } catch {
            let problem = "\((error as? ArgumentError)?.message ?? "\(error)"); the recording ends here"
            state.failure = problem
            return problem
        }
    }

    /// Returns the description of a packet's connection. The first packet creates it. A later CONNECT replaces it,
    /// because only CONNECT contains the version.
    private static func connection(
        of packet: ProxiedPacket, to broker: HostAndPort, _ connections: inout [Int: ObservedConnection]
    ) -> ObservedConnection {
        let known = connections[packet.connection]
        var clientID = known?.options.clientId ?? ""
        if case .connect(let connect)? = packet.packet { clientID = connect.clientID }
        let version: ObservedConnection.ProtocolVersion =
            switch packet.version {
            case .v31: .v31
            case .v311: .v311
            case .v5: .v5
            }
        if let known, known.protocolVersion == version { return known }
        let connection = ObservedConnection(
            id: UInt64(packet.connection),
            options: ConnectOptions(host: broker.host, port: broker.port, clientId: clientID),
            protocolVersion: version, openedAt: Date(), openedInstant: packet.time)
        connections[packet.connection] = connection
        return connection
    }

    /// Ends the recording and the inspector's web page. Returns the problem if packets are missing in the file.
    func close() async -> String? {
        server?.stop()
        let problem = state.withLock { state in
            state.failure ?? Self.missing(state.export?.missedCount ?? 0)
        }
        guard let archive else { return problem }
        do {
            try await archive.flush()
        } catch {
            await archive.close()
            return (error as? CourierError)?.message ?? "\(error)"
        }
        let status = archive.status
        await archive.close()
        return status.failure?.message ?? Self.missing(status.missedRows)
    }

    private static func missing(_ count: UInt64) -> String? {
        count > 0
            ? "\(count) packets are missing in the recording, because they arrived faster than they could be written."
            : nil
    }
}
