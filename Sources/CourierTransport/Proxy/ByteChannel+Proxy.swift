extension ByteChannel {
    /// Starts to connect to a host over TCP, through a proxy if the settings name one for this host.
    func dialHost(_ host: String, port: UInt16, traffic: ProxyVariables.Traffic, tools: DialTools) {
        do throws(TransportError) {
            let proxy = try tools.proxy.proxy(toHost: host, port: port, traffic: traffic, variable: tools.variable)
            if let proxy {
                dial(ProxyDialer(proxy, host: host, port: port, channel: self, tools: tools))
            } else {
                dial(TCPDialer(host: host, port: port, channel: self, tools: tools))
            }
        } catch {
            finish(.failed(error))
        }
    }
}
