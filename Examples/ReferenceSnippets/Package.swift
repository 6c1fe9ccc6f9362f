// swift-tools-version: 6.2
import PackageDescription

// Compiles the published Courier code snippets against this package, as an app would. README.md describes them.

let snippets: [Target.Dependency] = [
    .product(name: "CourierCore", package: "Courier"),
    .product(name: "CourierMQTT", package: "Courier"),
    .product(name: "CourierMQTTChuck", package: "Courier"),
    .product(name: "CourierProtobuf", package: "Courier"),
]

let package = Package(
    name: "ReferenceSnippets",
    dependencies: [
        .package(name: "Courier", path: "../..")
    ],
    targets: [
        .target(name: "ReferenceSwift5", dependencies: snippets, swiftSettings: [.swiftLanguageMode(.v5)]),
        .target(name: "ReferenceSwift6", dependencies: snippets, swiftSettings: [.swiftLanguageMode(.v6)]),
    ]
)
