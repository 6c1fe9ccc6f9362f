// swift-tools-version: 6.2
import PackageDescription

// Random walks of the client engine against a model of a server. A package of its own, so that it can be built in release
// mode whatever the tests are built in: Scripts/simulate runs it.

let package = Package(
    name: "CourierSimulation",
    dependencies: [.package(name: "Courier", path: "../..")],
    targets: [
        .executableTarget(
            name: "simulate",
            dependencies: [
                .product(name: "MQTTCodec", package: "Courier"), .product(name: "MQTTEngine", package: "Courier"),
            ],
            swiftSettings: [.swiftLanguageMode(.v6), .enableUpcomingFeature("ExistentialAny")])
    ]
)
