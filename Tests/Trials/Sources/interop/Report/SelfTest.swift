import CourierTesting
import MQTTCodec

/// Checks that conversations fail with a broker that lacks the tested features.
enum SelfTest {
    /// The conversations that must fail with the limited broker below.
    private static let expected: Set = [
        "connects with MQTT 5", "a wrong password is refused", "payloads at QoS 2",
        "a retained message, and its removal", "filters with + and #", "properties of a message",
        "a question and its answer", "a session outlives a cut, and nothing is lost",
        "what is sent while cut off arrives later, once at QoS 2", "clients come back when the broker was restarted",
    ]

    /// Returns true if exactly the expected conversations fail. Prints the differences.
    static func run() async throws -> Bool {
        var configuration = BrokerConfiguration()
        configuration.versions = [.v311]
        configuration.maximumQoS = .atLeastOnce
        configuration.isRetainAvailable = false
        configuration.isWildcardSubscriptionAvailable = false
        configuration.maximumSessionExpiry = .zero
        let run = InteropRun(brokers: [try Loopback(configuration)], patience: .seconds(20))
        let matrix = await run.matrix()
        guard matrix.failedRows == expected else {
            print(matrix.text)
            print("interop: should have failed: \(expected.subtracting(matrix.failedRows).sorted())")
            print("interop: should have passed: \(matrix.failedRows.subtracting(expected).sorted())")
            return false
        }
        print("interop: \(expected.count) conversations fail with a broker that can not hold them, as they should")
        return true
    }
}
