// swift-tools-version: 6.2
import PackageDescription

// One program for each fuzzer. Scripts/fuzz builds the programs with libFuzzer's coverage and AddressSanitizer, and runs
// them. They are a separate package, because all modules that a fuzzer uses need these options.

let settings: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
]

func fuzzer(_ name: String, _ products: String...) -> Target {
    .executableTarget(
        name: name,
        dependencies: ["FuzzSupport"] + products.map { .product(name: $0, package: "Courier") },
        swiftSettings: settings)
}

var targets: [Target] = [
    // The declaration of libFuzzer's main function.
    .systemLibrary(name: "CLibFuzzer"),
    .target(name: "FuzzSupport", dependencies: ["CLibFuzzer"], swiftSettings: settings),
    fuzzer("canary"),
    // Files of an SQLite database with recorded packets, as the inspector writes them.
    fuzzer("archive", "CourierCore", "CourierMQTTChuck", "CourierMQTTChuckSQLite"),
    // Replies of a token endpoint.
    fuzzer("credentials", "CourierAuthHTTP", "CourierCore"),
    fuzzer("decoder", "MQTTCodec"),
    // Packets that pass through FaultProxy, and the sentences of its rules.
    fuzzer("faults", "CourierCore", "CourierTesting", "MQTTCodec"),
    // Heads of HTTP messages, and responses of HTTP proxies.
    fuzzer("http", "CourierTransport"),
    // Requests to the inspector's server, and its query language.
    fuzzer("inspector", "CourierCore", "CourierMQTTChuck", "CourierMQTTChuckWeb"),
    // Answers of DNS servers, and netlink messages of the kernel.
    fuzzer("network", "CourierTransport"),
    // Replies of SOCKS5 proxies, proxy URLs, and the variable no_proxy.
    fuzzer("proxy", "CourierTransport"),
    // Recordings as JSON Lines.
    fuzzer("recordings", "CourierCore", "CourierMQTTChuck", "CourierTesting"),
    // Files of a message store.
    fuzzer("store", "CourierCore", "CourierSQLite"),
    // Keys of a terminal. Its files of `courier` are links, because `courier` is no library.
    fuzzer("terminal"),
    // Broker URLs, trace contexts and topic templates.
    fuzzer("text", "CourierCore"),
    // The file with the simple matcher is a link to the file of CourierCoreTests.
    fuzzer("topics", "CourierCore"),
    fuzzer("websocket", "CourierTransport"),
]

// These fuzzers take minutes to build, so they are built only on request.
switch Context.environment["SLOW_FUZZER"] {
case "client":
    // Payloads as property lists, keep-alive memories, and server references.
    targets.append(fuzzer("client", "CourierCore", "CourierMQTT"))
case "protobuf":
    // The folder with the generated Swift is a link to the folder of CourierProtobufTests.
    targets.append(fuzzer("protobuf", "CourierCore", "CourierProtobuf"))
default: break
}

let package = Package(
    name: "CourierFuzz", dependencies: [.package(name: "Courier", path: "../..")], targets: targets)
