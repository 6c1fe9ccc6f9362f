import Synchronization
import Testing

@testable import CourierTransport

/// The environment variables that select the proxy for each kind of traffic.
@Suite struct ProxyVariablesTests {
    private func proxy(
        _ variables: [String: String], _ traffic: ProxyVariables.Traffic = .tls, host: String = "broker.example"
    ) throws(TransportError) -> String? {
        try ProxySetting.variables(variables).proxy(toHost: host, port: 8_883, traffic: traffic) { _ in
            Issue.record("the process was asked")
            return nil
        }?.description
    }

    /// Each variable names a different proxy, so that the test sees which variable is used.
    @Test(arguments: [
        (ProxyVariables.Traffic.plain, ["all_proxy", "ALL_PROXY"]),
        (.webSocket, ["http_proxy", "all_proxy", "ALL_PROXY"]),
        (.tls, ["https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"]),
        (.webSocketOverTLS, ["https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"]),
    ])
    func `http_proxy and https_proxy precede all_proxy, and lower-case names precede upper-case names`(
        traffic: ProxyVariables.Traffic, order: [String]
    ) throws {
        let names = ["http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"]
        var variables = Dictionary(uniqueKeysWithValues: names.enumerated().map { ($1, "http://p:\($0 + 1)") })
        for name in order {
            #expect(try proxy(variables, traffic) == variables[name])
            variables[name] = ""  // An empty variable counts as missing.
        }
        #expect(try proxy(variables, traffic) == nil)
    }

    @Test func `a proxy variable without a scheme is read as an HTTP proxy`() throws {
        #expect(try proxy(["https_proxy": "p:3128"]) == "http://p:3128")
        #expect(try proxy(["https_proxy": "u:secret@p:3128"]) == "http://p:3128")
        #expect(try proxy(["ALL_PROXY": "socks5h://p"]) == "socks5h://p:1080")
    }

    @Test func `no proxy is used for a host that no_proxy lists`() throws {
        for name in ["no_proxy", "NO_PROXY"] {
            let variables = ["all_proxy": "http://p:1", name: ".example,10.0.0.0/8"]
            #expect(try proxy(variables) == nil)
            #expect(try proxy(variables, host: "10.1.2.3") == nil)
            #expect(try proxy(variables, host: "other.test") == "http://p:1")
        }
        #expect(try proxy(["all_proxy": "http://p:1", "no_proxy": "x", "NO_PROXY": "*"]) == "http://p:1")
        #expect(try proxy(["all_proxy": "nonsense", "no_proxy": "*"]) == nil)
    }

    @Test func `the error for an invalid proxy variable names the variable, but not its value`() {
        do throws(TransportError) {
            _ = try proxy(["HTTPS_PROXY": "http://u:hunter2@p:port"])
            Issue.record("accepted")
        } catch {
            #expect(error.code == .invalidConfiguration)
            #expect(error.message.hasPrefix("the variable HTTPS_PROXY: the proxy's URL has an invalid port"))
            #expect(!error.message.contains("hunter2"))
        }
    }

    @Test func `the setting proxy = .environment reads the environment variables of the process`() throws {
        let asked = Mutex<[String]>([])
        let found = try ProxySetting.environment.proxy(toHost: "broker.example", port: 1, traffic: .plain) { name in
            asked.withLock { $0.append(name) }
            return name == "ALL_PROXY" ? "socks5://p" : nil
        }
        #expect(found?.description == "socks5://p:1080")
        #expect(asked.withLock { $0 }.contains("no_proxy"))
        #expect(SystemEnvironment.value(of: "PATH")?.isEmpty == false)
        #expect(SystemEnvironment.value(of: "no such variable") == nil)
    }

    @Test func `if the app configures a proxy, all proxy environment variables are ignored`() throws {
        let own = try ProxyConfiguration(url: "http://own:1")
        let found = try ProxySetting.proxy(own).proxy(toHost: "h", port: 1, traffic: .tls) { _ in "*" }
        #expect(found == own)
        #expect(try ProxySetting.direct.proxy(toHost: "h", port: 1, traffic: .tls) { _ in "http://p:1" } == nil)
    }
}
