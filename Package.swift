// swift-tools-version: 6.2
import PackageDescription

// The target list is the architecture: docs/inside/architecture.md says why each dependency exists,
// and Scripts/check-layers fails when an `import` or a dependency draws one that is not in its table.

let settings: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
]

let package = Package(
    name: "Courier",
    // `Mutex`, `Atomic` and generic errors need these systems. Scripts/check-apple-versions checks that the sources need
    // no newer ones. The package was never built for them: docs/reference/platforms.md.
    platforms: [.macOS(.v15), .macCatalyst(.v18), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
    products: [
        .library(name: "CourierAuthHTTP", targets: ["CourierAuthHTTP"]),
        .library(name: "CourierCore", targets: ["CourierCore"]),
        .library(name: "CourierMQTT", targets: ["CourierMQTT"]),
        .library(name: "CourierMQTTChuck", targets: ["CourierMQTTChuck"]),
        .library(name: "CourierMQTTChuckSQLite", targets: ["CourierMQTTChuckSQLite"]),
        .library(name: "CourierMQTTChuckWeb", targets: ["CourierMQTTChuckWeb"]),
        .library(name: "CourierProtobuf", targets: ["CourierProtobuf"]),
        .library(name: "CourierSQLite", targets: ["CourierSQLite"]),
        .library(name: "CourierTesting", targets: ["CourierTesting"]),
        .library(name: "CourierTransport", targets: ["CourierTransport"]),
        .library(name: "MQTTCodec", targets: ["MQTTCodec"]),
        .library(name: "MQTTEngine", targets: ["MQTTEngine"]),
        .executable(name: "courier", targets: ["courier"]),
        .executable(name: "protoc-gen-courier", targets: ["protoc-gen-courier"]),
        .plugin(name: "CourierProtobufPlugin", targets: ["CourierProtobufPlugin"]),
        .plugin(name: "GenerateProtobufCommand", targets: ["GenerateProtobufCommand"]),
    ],
    targets: [
        .systemLibrary(name: "CLinux"),  // Headers only. CourierTransport imports it only on Linux.
        .systemLibrary(
            name: "CMicroHTTPD", pkgConfig: "libmicrohttpd",
            providers: [.apt(["libmicrohttpd-dev"]), .brew(["libmicrohttpd"])]),
        .systemLibrary(
            name: "CProtobufC", pkgConfig: "libprotobuf-c",
            providers: [.apt(["libprotobuf-c-dev"]), .brew(["protobuf-c"])]),
        .systemLibrary(
            name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"]), .brew(["sqlite"])]),
        .systemLibrary(
            name: "COpenSSL", pkgConfig: "openssl", providers: [.apt(["libssl-dev"]), .brew(["openssl@3"])]),

        .target(name: "CommandArguments", swiftSettings: settings),
        .executableTarget(name: "courier", dependencies: ["CourierCommands"], swiftSettings: settings),
        .target(name: "CourierAuthHTTP", dependencies: ["CourierCore"], swiftSettings: settings),
        .target(
            name: "CourierCommands",
            dependencies: [
                "CommandArguments", "CourierCore", "CourierMQTT", "CourierMQTTChuck", "CourierMQTTChuckSQLite",
                "CourierMQTTChuckWeb", "CourierProtobuf", "CourierSQLite", "CourierTesting", "CourierTransport",
                "MQTTCodec",
            ],
            swiftSettings: settings),
        .target(name: "CourierCore", swiftSettings: settings),
        .target(
            name: "CourierMQTT",
            dependencies: ["CourierCore", "CourierSQLite", "CourierTransport", "MQTTCodec", "MQTTEngine"],
            swiftSettings: settings),
        .target(name: "CourierMQTTChuck", dependencies: ["CourierCore", "MQTTCodec"], swiftSettings: settings),
        .target(
            name: "CourierMQTTChuckSQLite",
            dependencies: ["CSQLite", "CourierCore", "CourierMQTTChuck", "CourierSQLite"], swiftSettings: settings),
        .target(
            name: "CourierMQTTChuckWeb", dependencies: ["CMicroHTTPD", "CourierCore", "CourierMQTTChuck", "MQTTCodec"],
            resources: [
                .embedInCode("Page/icon.svg"), .embedInCode("Page/page.css"), .embedInCode("Page/page.html"),
                .embedInCode("Page/page.js"),
            ],
            swiftSettings: settings),
        .target(name: "CourierProtobuf", dependencies: ["CProtobufC", "CourierCore"], swiftSettings: settings),
        .target(name: "CourierProtobufGenerator", dependencies: ["CourierProtobuf"], swiftSettings: settings),
        .executableTarget(
            name: "protoc-gen-courier", dependencies: ["CourierProtobuf", "CourierProtobufGenerator"],
            swiftSettings: settings),
        .plugin(name: "CourierProtobufPlugin", capability: .buildTool(), dependencies: ["protoc-gen-courier"]),
        .plugin(
            name: "GenerateProtobufCommand",
            capability: .command(
                intent: .custom(
                    verb: "generate-protobuf", description: "Make Swift of .proto files in the source tree"),
                permissions: [
                    .writeToPackageDirectory(reason: "Puts the generated Swift beside the .proto files.")
                ]),
            dependencies: ["protoc-gen-courier"]),
        .target(name: "CourierSQLite", dependencies: ["CSQLite", "CourierCore"], swiftSettings: settings),
        .target(
            name: "CourierTesting", dependencies: ["CourierCore", "CourierTransport", "MQTTCodec"],
            swiftSettings: settings),
        .target(
            name: "CourierTransport",
            dependencies: [.target(name: "CLinux", condition: .when(platforms: [.linux])), "COpenSSL"],
            swiftSettings: settings),
        .target(name: "MQTTCodec", swiftSettings: settings),
        .target(name: "MQTTEngine", dependencies: ["MQTTCodec"], swiftSettings: settings),

        // What tests of several targets share; in no product.
        .target(
            name: "TestSupport", dependencies: ["CourierCore", "CourierTransport", "MQTTCodec"],
            path: "Tests/TestSupport", swiftSettings: settings),
        .testTarget(name: "CommandArgumentsTests", dependencies: ["CommandArguments"], swiftSettings: settings),
        .testTarget(
            name: "CourierAuthHTTPTests",
            dependencies: ["CourierAuthHTTP", "CourierCore", "CourierMQTT", "CourierTransport", "TestSupport"],
            swiftSettings: settings),
        .testTarget(
            name: "CourierCommandsTests",
            dependencies: [
                "CommandArguments", "courier", "CourierCommands", "CourierCore", "CourierMQTT", "CourierMQTTChuck",
                "CourierMQTTChuckSQLite", "CourierSQLite", "CourierTesting", "CourierTransport", "MQTTCodec",
                "TestSupport",
            ],
            swiftSettings: settings),
        .testTarget(
            name: "CourierCoreTests", dependencies: ["CourierCore", "TestSupport"], swiftSettings: settings),
        .testTarget(
            name: "CourierMQTTTests",
            dependencies: [
                .target(name: "CLinux", condition: .when(platforms: [.linux])), "CourierCore", "CourierMQTT",
                "CourierSQLite", "CourierTesting", "CourierTransport", "MQTTCodec", "MQTTEngine", "TestSupport",
            ],
            swiftSettings: settings),
        .testTarget(
            name: "CourierMQTTChuckTests",
            dependencies: [
                "CourierCore", "CourierMQTT", "CourierMQTTChuck", "CourierTesting", "MQTTCodec", "TestSupport",
            ],
            resources: [.copy("Fixtures")], swiftSettings: settings),
        .testTarget(
            name: "CourierMQTTChuckSQLiteTests",
            dependencies: [
                "CourierCore", "CourierMQTTChuck", "CourierMQTTChuckSQLite", "CourierSQLite", "MQTTCodec",
                "TestSupport",
            ],
            resources: [.copy("Fixtures")], swiftSettings: settings),
        .testTarget(
            name: "CourierMQTTChuckWebTests",
            dependencies: [
                "CourierCore", "CourierMQTT", "CourierMQTTChuck", "CourierMQTTChuckWeb", "CourierTesting", "MQTTCodec",
                "TestSupport",
            ],
            swiftSettings: settings),
        .testTarget(
            name: "CourierProtobufTests",
            dependencies: [
                "CourierCore", "CourierMQTT", "CourierMQTTChuck", "CourierProtobuf", "MQTTCodec", "TestSupport",
            ],
            exclude: ["Peer", "Protos"], swiftSettings: settings),
        .testTarget(
            name: "CourierSQLiteTests",
            dependencies: ["CSQLite", "CourierCore", "CourierSQLite", "CourierTesting", "TestSupport"],
            resources: [.copy("Fixtures")], swiftSettings: settings),
        .testTarget(
            name: "CourierTransportTests",
            dependencies: [
                .target(name: "CLinux", condition: .when(platforms: [.linux])), "COpenSSL", "CourierTransport",
                "TestSupport",
            ],
            exclude: ["WebSocket/Peer", "WebSocket/cases.md"], swiftSettings: settings),
        .testTarget(
            name: "CourierTestingTests",
            dependencies: ["CourierCore", "CourierTesting", "CourierTransport", "MQTTCodec", "TestSupport"],
            swiftSettings: settings),
        .testTarget(
            name: "MQTTCodecTests", dependencies: ["MQTTCodec", "TestSupport"], resources: [.copy("Captures")],
            swiftSettings: settings),
        .testTarget(
            name: "ProtocGenCourierTests", dependencies: ["CourierProtobuf", "CourierProtobufGenerator"],
            swiftSettings: settings),
        .testTarget(name: "MQTTEngineTests", dependencies: ["MQTTCodec", "MQTTEngine"], swiftSettings: settings),
    ]
)
