import Glibc
import TestSupport
import Testing

@testable import CourierTransport

/// Connections that use a chosen local address or network interface.
@Suite struct LocalBindingTests {
    private static func options(_ binding: LocalBinding) -> ChannelOptions {
        var options = ChannelOptions()
        options.localBinding = binding
        return options
    }

    private static func failure(
        _ binding: LocalBinding, to endpoint: TransportEndpoint, _ loop: EventLoop, _ tools: DialTools = DialTools()
    ) async throws -> TransportError {
        let recorder = Recorder()
        _ = ByteChannel.connect(
            to: endpoint, options: options(binding), on: loop, tools: tools, handler: recorder)
        return try await recorder.failure()
    }

    @Test(arguments: [
        (LocalBinding(address: "127.0.0.2"), "127.0.0.2"), (LocalBinding(interface: "lo"), "127.0.0.1"),
        (LocalBinding(address: "127.0.0.3", interface: "lo"), "127.0.0.3"),
    ])
    func `a connection uses the configured local address or network interface`(
        _ binding: LocalBinding, _ host: String
    ) async throws {
        try await withLoop { loop in
            let listener = try ChannelListener.listen(loop: loop) { _ in Echo() }
            let hosts = Watched<[String?]>([])
            let real = SystemCalls.real
            let calls = SystemCalls(connect: { socket, address, length in
                let result = real.connect(socket, address, length)
                hosts.update { $0.append(Sockets.localAddress(socket)?.host) }
                return result
            })
            let recorder = Recorder()
            _ = ByteChannel.connect(
                to: listener.endpoint, options: Self.options(binding), on: loop, tools: DialTools(calls: calls),
                handler: recorder)
            _ = try await recorder.open()
            #expect(hosts.value == [host])
        }
    }

    @Test(arguments: [
        (LocalBinding(address: "192.0.2.7"), "this machine does not have the local address 192.0.2.7"),
        (LocalBinding(interface: "nosuch0"), "this machine does not have the network interface “nosuch0”"),
        (LocalBinding(address: "::1"), "“127.0.0.1” has no IPv6 address, but the local address ::1 is IPv6"),
    ])
    func `the error names a local address or interface that can not be used`(
        _ binding: LocalBinding, _ text: String
    ) async throws {
        try await withLoop { loop in
            let listener = try ChannelListener.listen(loop: loop) { _ in Echo() }
            let error = try await Self.failure(binding, to: listener.endpoint, loop)
            #expect(error.code == .unreachable)
            #expect(error.message.contains(text))
        }
    }

    @Test func `addresses of another IP family than the local address are not tried`() async throws {
        try await withLoop { loop in
            let port = try LocalPort.free()
            let resolver = HostResolver { _, port in
                do throws(TransportError) {
                    var addresses: [SocketAddress] = []
                    for host in ["::1", "127.0.0.1"] {
                        addresses += try SocketAddress.lookUp(host: host, port: port, isNumeric: true)
                    }
                    return .success(addresses)
                } catch {
                    return .failure(error)
                }
            }
            let error = try await Self.failure(
                LocalBinding(address: "127.0.0.2"), to: .tcp(host: "two.example", port: port), loop,
                DialTools(resolver: resolver))
            #expect(error.code == .connectionRefused)
            #expect(!error.message.contains("::1"))
        }
    }

    @Test(arguments: ["", "localhost", "1.2.3.4.5", "127.0.0.1:80", "::1%"])
    func `LocalBinding reports a problem if the local address is not an IP address`(_ text: String) {
        #expect(LocalBinding(address: text).problem?.contains("“\(text)” is not an IPv4 or IPv6 address") == true)
    }

    @Test(arguments: ["", "a/b", "a b", "sixteen-letters-"])
    func `LocalBinding reports a problem if the interface name is invalid`(_ text: String) {
        #expect(LocalBinding(interface: text).problem?.contains("is not the name of a network interface") == true)
    }

    @Test func `LocalBinding reports no problem for a valid address and interface name`() {
        #expect(LocalBinding().problem == nil)
        #expect(LocalBinding(address: "2001:db8::1", interface: "wlp0s20f3").problem == nil)
    }
}
