#if os(Linux)
    import CLinux

    /// Sends DNS queries with the resolver of the C library.
    enum LinuxResolver {
        static func query(
            _ name: String, _ server: (address: UInt32, port: UInt16)?, _ answerLimit: Int
        ) -> ServiceQuery.Answer {
            var bytes = [UInt8](repeating: 0, count: answerLimit)
            let count = courier_query_services(
                name, &bytes, Int32(bytes.count), server?.address ?? 0, server?.port ?? 0)
            switch count {
            case courier_dns_none: return .none
            case ..<0: return .failed("the DNS server does not answer")
            default: return .bytes(Array(bytes.prefix(Int(count))))
            }
        }
    }
#endif
