import CourierTransport
import Foundation
import TrialSupport

/// mosquitto with a listener for each wire, and a proxy of each kind before it.
actor Mosquitto: Broker {
    let name = "mosquitto"
    let account = Account.ada
    let lacks = Ability.lackedByNewBrokers
    private let folder: TemporaryFolder
    private var broker: RealBroker?
    private var proxies: [RealProxy] = []
    private var ways: [Way] = []

    init() throws { folder = try TemporaryFolder() }

    nonisolated var missingPackage: String? {
        let programs = [
            "mosquitto": RealBroker.program, "microsocks": "/usr/bin/microsocks", "tinyproxy": "/usr/bin/tinyproxy",
        ]
        return programs.first { !FileManager.default.isExecutableFile(atPath: $0.value) }?.key
    }

    func start() async throws -> [Way] {
        if let broker { try await broker.start() } else { try await startFirst() }
        return ways
    }

    private func startFirst() async throws {
        let (tls, ws, wss) = (try LocalPort.free(), try LocalPort.free(), try LocalPort.free())
        let certificates = try await Certificates.shared
        let passwords = folder.file("passwords")
        try ChildProcess.run(["mosquitto_passwd", "-b", "-c", passwords, account.user, account.password])
        let secure = """
            certfile \(certificates.server.certificateFile)
            keyfile \(certificates.server.privateKeyFile)
            """
        let settings = """
            password_file \(passwords)
            listener \(tls) 127.0.0.1
            \(secure)
            listener \(ws) 127.0.0.1
            protocol websockets
            listener \(wss) 127.0.0.1
            protocol websockets
            \(secure)
            """
        let socket = folder.file("broker.sock")
        let broker = try await RealBroker(persists: true, settings: settings, socketPath: socket)
        self.broker = broker
        let socks = try await RealProxy(.socks5, user: "proxy", password: "hunter2")
        proxies.append(socks)
        let http = try await RealProxy(.http, user: "proxy", password: "hunter2")
        proxies.append(http)
        ways = [
            Way("tcp", port: broker.port),
            Way("tls", port: tls, tls: certificates.client),
            Way("ws", port: ws),
            Way("wss", port: wss, tls: certificates.client),
            Way(socketPath: socket),
            Way("socks5", scheme: "tcp", port: broker.port, proxy: .proxy(socks.configuration)),
            Way("http-connect", scheme: "tcp", port: broker.port, proxy: .proxy(http.configuration)),
        ]
    }

    func stop() async { await broker?.stop() }

    func remove() async {
        for proxy in proxies { await proxy.kill() }
        proxies = []
        await broker?.remove()
        folder.remove()
    }
}
