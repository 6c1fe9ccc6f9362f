import Glibc
import TestSupport
import Testing

@testable import CourierTransport

@Suite struct PlatformTests {
    @Test func `the environment variable selects the platform, and Linux uses the platform linux by default`() throws {
        #expect(try Platform.named(nil) == .linux)
        #expect(try Platform.named("linux") == .linux)
        #expect(try Platform.named("posix") == .posix)
    }

    @Test(arguments: ["", "POSIX", "kqueue"])
    func `an unknown value of COURIER_PLATFORM is refused with an error that lists the allowed values`(
        _ name: String
    ) throws {
        let error = #expect(throws: TransportError.self) { try Platform.named(name) }
        #expect(error?.code == .invalidConfiguration)
        let message = error?.message ?? ""
        #expect(message.contains("COURIER_PLATFORM is “\(name)”") && message.contains("linux or posix"))
    }

    @Test func `an event loop is not created if the environment variable names no platform`() async {
        await #expect(processExitsWith: .success) {
            setenv(Platform.variable, "none", 1)
            let error = #expect(throws: TransportError.self) { try EventLoop() }
            #expect(error?.code == .invalidConfiguration)
        }
    }

    @Test(arguments: Platform.allCases)
    func `new and accepted sockets do not block and are closed in child processes`(_ platform: Platform) throws {
        func check(_ socket: Int32) {
            #expect(fcntl(socket, F_GETFL) & O_NONBLOCK != 0)
            #expect(fcntl(socket, F_GETFD) & FD_CLOEXEC != 0)
        }
        let folder = try TemporaryFolder()
        let address = try SocketAddress(unixPath: folder.file("listener"))
        let listener = platform.makeStreamSocket(family: address.family)
        defer { close(listener) }
        check(listener)
        #expect(platform.accept(listener) < 0)
        #expect(Sockets.bind(listener, address) == 0 && Sockets.listen(listener) == 0)
        #expect(platform.accept(listener) == -EAGAIN)
        let client = platform.makeStreamSocket(family: address.family)
        defer { close(client) }
        #expect(address.withSystemAddress { SystemCalls.real.connect(client, $0, $1) } == 0)
        let accepted = platform.accept(listener)
        defer { close(accepted) }
        #expect(accepted >= 0)
        check(accepted)
        #expect(platform.makeStreamSocket(family: -1) == -EAFNOSUPPORT)
    }
}
