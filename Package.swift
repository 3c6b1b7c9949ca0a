// swift-tools-version: 6.1
import PackageDescription

// The floors of the house (docs/architecture.md). A target may depend only on targets of floors below its own, or on
// one that stands before it on its own floor.

// Floors 0 to 4 need no package at all. `GATEHOUSE_CORE=1` leaves the floors above out, so that the sanitizer builds
// of the unit tests do not compile SwiftNIO and BoringSSL again.
let coreOnly = Context.environment["GATEHOUSE_CORE"] == "1"

// `GATEHOUSE_CORE_TESTS=0` leaves out the tests of floors 0 to 4, where the sanitizers run them anyway. With `threads`, only
// the tests of modules that have threads are left, for the thread sanitizer.
let coreTests = Context.environment["GATEHOUSE_CORE_TESTS"]

// `GATEHOUSE_FUZZ=1` adds the program `fuzz` (docs/fuzzing.md), and what it needs to see which code an input reaches.
// It needs `--sanitize=address` as well.
let fuzzing = Context.environment["GATEHOUSE_FUZZ"] == "1"
let coverage: [SwiftSetting] = fuzzing ? [.unsafeFlags(["-sanitize=fuzzer"])] : []

let settings: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
]

// `GATEHOUSE_STATIC_LIBRARIES=FOLDER` links the libraries whose archives are in the folder statically, and the data of ICU that
// is there in place of Foundation's. tools/package chooses what other releases of Debian and Ubuntu have under other names.
let portableLinking: [LinkerSetting] =
    Context.environment["GATEHOUSE_STATIC_LIBRARIES"].map {
        [.unsafeFlags(["-L", $0, "\($0)/icudata.o"])]
    } ?? []

func module(_ name: String, floor: String, _ dependencies: [Target.Dependency] = []) -> Target {
    .target(
        name: name, dependencies: dependencies, path: "Sources/\(floor)/\(name)", swiftSettings: settings + coverage)
}

func systemLibrary(_ name: String, pkgConfig: String, apt: String) -> Target {
    .systemLibrary(
        name: name, path: "Sources/System/\(name)", pkgConfig: pkgConfig, providers: [.apt([apt])])
}

func tests(_ name: String, _ dependencies: [Target.Dependency], exclude: [String] = []) -> Target {
    .testTarget(
        name: name, dependencies: dependencies, path: "Tests/\(name)", exclude: exclude, swiftSettings: settings)
}

var targets: [Target] = [
    // Floor 0: system libraries, and the values that every floor shares.
    systemLibrary("COpenSSL", pkgConfig: "openssl", apt: "libssl-dev"),
    systemLibrary("CSRTP", pkgConfig: "libsrtp2", apt: "libsrtp2-dev"),
    systemLibrary("COpenH264", pkgConfig: "openh264", apt: "libopenh264-dev"),
    systemLibrary("CMosquitto", pkgConfig: "libmosquitto", apt: "libmosquitto-dev"),
    systemLibrary("CExpat", pkgConfig: "expat", apt: "libexpat1-dev"),
    systemLibrary("CPNG", pkgConfig: "libpng", apt: "libpng-dev"),
    systemLibrary("CZlib", pkgConfig: "zlib", apt: "zlib1g-dev"),
    .target(name: "COpus", path: "Sources/System/COpus", linkerSettings: [.linkedLibrary("opus")]),
    .target(name: "CVPX", path: "Sources/System/CVPX", linkerSettings: [.linkedLibrary("vpx")]),
    // Loads libavcodec when it is first needed; only its headers are used here.
    .target(name: "CAVCodec", path: "Sources/System/CAVCodec", linkerSettings: [.linkedLibrary("dl")]),
    .target(name: "CJPEG", path: "Sources/System/CJPEG", linkerSettings: [.linkedLibrary("jpeg")]),
    .target(name: "CLinuxUDP", path: "Sources/System/CLinuxUDP"),
    // libusrsctp, with functions that hide its structures.
    .target(name: "CUSRSCTP", path: "Sources/System/CUSRSCTP", linkerSettings: [.linkedLibrary("usrsctp")]),
    .target(name: "CFileStatus", path: "Sources/System/CFileStatus"),
    .systemLibrary(name: "CMalloc", path: "Sources/System/CMalloc"),
    module("Transport", floor: "System"),

    // Floor 1: bytes to values and back.
    module("SDP", floor: "Wire", ["Transport"]),
    module("STUN", floor: "Wire", ["Transport", "COpenSSL"]),
    module("TURN", floor: "Wire", ["Transport", "STUN", "COpenSSL"]),
    module("MulticastDNS", floor: "Wire", ["Transport"]),
    module("PortMapping", floor: "Wire", ["Transport"]),
    module("RTP", floor: "Wire", ["Transport"]),
    module("RTSP", floor: "Wire", ["Transport", "COpenSSL"]),
    module("HTTPMedia", floor: "Wire"),
    module("ONVIF", floor: "Wire", ["Transport", "RTSP", "HTTPMedia", "COpenSSL", "CExpat"]),
    module("FragmentedMP4", floor: "Wire", ["Transport", "RTP"]),
    // Its data files are read by tools/generate-traits.
    .target(
        name: "HomeTypes", path: "Sources/Wire/HomeTypes", exclude: ["Traits", "Types"],
        swiftSettings: settings + coverage),
    module("AutomationGraph", floor: "Wire", ["HomeTypes"]),

    // Floor 2: protocol state machines without I/O.
    module("ICE", floor: "Peer", ["Transport", "STUN"]),
    module("SRTP", floor: "Peer", ["COpenSSL"]),
    module("DTLS", floor: "Peer", ["Transport", "SRTP", "COpenSSL"]),
    module("TLS", floor: "Peer", ["COpenSSL"]),
    module("PeerConnection", floor: "Peer", ["Transport", "SDP", "STUN", "ICE", "DTLS", "SRTP"]),
    module("SCTP", floor: "Peer", ["Transport", "CUSRSCTP"]),
    module("Congestion", floor: "Peer", ["Transport"]),

    // Floor 3: packets, cameras, codecs and the socket.
    module(
        "Codecs", floor: "Media",
        ["SDP", "RTP", "COpus", "CVPX", "COpenH264", "CPNG", "CJPEG", "CAVCodec"]),
    module("DatagramPort", floor: "Media", ["Transport", "CLinuxUDP"]),
    module(
        "MediaRelay", floor: "Media",
        [
            "Transport", "SDP", "STUN", "TURN", "RTP", "ICE", "TLS", "DTLS", "PeerConnection", "Congestion",
            "DatagramPort",
        ]),
    module("LocalNetwork", floor: "Media", ["Transport", "MulticastDNS", "PortMapping", "DatagramPort"]),
    module("DataChannels", floor: "Media", ["Transport", "SCTP", "DatagramPort"]),
    module("Intake", floor: "Media", ["Transport", "SDP", "RTP", "Codecs"]),
    module(
        "Cameras", floor: "Media",
        [
            "Transport", "SDP", "RTP", "RTSP", "HTTPMedia", "ONVIF", "Codecs", "DatagramPort", "Intake", "COpenSSL",
        ]),

    // Floor 4: the runtime of a camera, and what clients hold of it as leases.
    module(
        "Stations", floor: "Services",
        [
            "Transport", "SDP", "RTP", "RTSP", "ONVIF", "Codecs", "DatagramPort", "MediaRelay", "Intake", "Cameras",
        ]),
    module(
        "Signalling", floor: "Services",
        [
            "Transport", "SDP", "RTP", "ICE", "DTLS", "PeerConnection", "SCTP", "DatagramPort", "MediaRelay",
            "DataChannels", "HomeTypes", "Cameras", "Codecs", "Stations",
        ]),
    module(
        "PushAvStreamTransport", floor: "Services",
        [
            "Transport", "CFileStatus", "COpenSSL", "SDP", "RTP", "FragmentedMP4", "HomeTypes", "Codecs",
            "DatagramPort", "MediaRelay", "Cameras", "Stations",
        ]),
    module(
        "RTSPServer", floor: "Services",
        [
            "Transport", "SDP", "RTP", "RTSP", "DatagramPort", "MediaRelay", "Cameras", "Stations", "FragmentedMP4",
            "PushAvStreamTransport",
        ]),

    // Of floor 5 what needs no package.
    module("MQTTDevices", floor: "Home", ["HomeTypes", "DatagramPort", "Transport", "CMosquitto"]),
    module("Automation", floor: "Home", ["AutomationGraph", "HomeTypes"]),

    // Test support that is not a test.
    .target(
        name: "NetworkSimulator", dependencies: ["Transport"], path: "Sources/Testing/NetworkSimulator",
        swiftSettings: settings),
    module("PacketFakes", floor: "Testing", ["RTP"]),
    // A vendor's traits, which tools/generate-traits writes from the data files beside them.
    .target(
        name: "ExampleOrganization", dependencies: ["HomeTypes"], path: "Sources/Testing/ExampleOrganization",
        exclude: ["Traits", "Types"], swiftSettings: settings),
    module(
        "StationFakes", floor: "Testing",
        ["Transport", "SDP", "RTP", "Codecs", "DatagramPort", "MediaRelay", "Intake", "Cameras", "Stations"]),
    module("RecordingFakes", floor: "Testing", ["Codecs", "FragmentedMP4", "PushAvStreamTransport", "Transport"]),
    .executableTarget(
        name: "recording-writer", dependencies: ["PushAvStreamTransport", "RecordingFakes"],
        path: "Sources/Testing/recording-writer", swiftSettings: settings),
    module(
        "PeerFakes", floor: "Testing",
        ["Transport", "RTP", "ICE", "DTLS", "PeerConnection", "NetworkSimulator"]),
    .target(name: "HeapMeter", path: "Sources/Testing/HeapMeter", swiftSettings: settings),
    module(
        "FuzzTargets", floor: "Testing",
        [
            "Transport", "SDP", "STUN", "TURN", "RTP", "RTSP", "HTTPMedia", "ONVIF", "FragmentedMP4", "ICE", "SRTP",
            "DTLS",
            "SCTP", "Codecs", "Cameras", "Signalling", "PushAvStreamTransport", "MQTTDevices", "AutomationGraph",
            "Automation",
            "HomeTypes",
        ]),

    tests("TransportTests", ["Transport"]),
    tests("SDPTests", ["SDP", "Transport"]),
    tests("STUNTests", ["STUN", "Transport"]),
    tests("TURNTests", ["TURN", "STUN", "Transport", "COpenSSL"]),
    tests("MulticastDNSTests", ["MulticastDNS", "Transport"]),
    tests("PortMappingTests", ["PortMapping", "Transport"]),
    tests("ICETests", ["ICE", "STUN", "Transport", "NetworkSimulator"]),
    tests("RTPTests", ["RTP", "Transport"]),
    tests("FragmentedMP4Tests", ["FragmentedMP4", "RTP", "Transport"]),
    tests("HTTPMediaTests", ["HTTPMedia", "Codecs", "Transport"]),
    tests("ONVIFTests", ["ONVIF", "RTSP", "Transport"]),
    tests("RTSPTests", ["RTSP", "Transport"]),
    tests("IntakeTests", ["Intake", "PacketFakes", "SDP", "RTP", "Transport"]),
    tests(
        "CamerasTests",
        [
            "Cameras", "StationFakes", "Intake", "PacketFakes", "HTTPMedia", "ONVIF", "RTSP", "RTP", "SDP", "Codecs",
            "DatagramPort", "Transport",
        ]),
    tests("CodecsTests", ["Codecs", "SDP", "RTP", "Transport"]),
    tests("DTLSTests", ["DTLS", "SRTP", "COpenSSL", "Transport", "HeapMeter"], exclude: ["Fixtures"]),
    tests("TLSTests", ["TLS", "COpenSSL"]),
    tests("SRTPTests", ["SRTP", "CSRTP", "Transport"]),
    tests(
        "PeerConnectionTests",
        [
            "PeerConnection", "PeerFakes", "ICE", "DTLS", "SRTP", "RTP", "STUN", "Transport", "NetworkSimulator",
            "HeapMeter",
        ]),
    tests("SCTPTests", ["SCTP", "Transport"]),
    tests("CongestionTests", ["Congestion", "Transport"]),
    tests("LocalNetworkTests", ["LocalNetwork", "Transport"]),
    tests("DataChannelsTests", ["DataChannels", "SCTP", "Transport"]),
    tests("DatagramPortTests", ["DatagramPort", "CLinuxUDP", "Transport"]),
    tests(
        "MediaRelayTests",
        [
            "MediaRelay", "PeerFakes", "PeerConnection", "Congestion", "ICE", "DTLS", "STUN", "RTP", "SDP",
            "DatagramPort", "Transport", "NetworkSimulator",
        ]),
    tests(
        "StationsTests",
        [
            "Stations", "StationFakes", "MediaRelay", "Cameras", "Codecs", "DatagramPort", "SDP", "RTP", "RTSP",
            "Transport",
        ]),
    tests(
        "SignallingTests",
        [
            "Signalling", "Stations", "StationFakes", "PeerFakes", "MediaRelay", "Cameras", "Codecs", "PeerConnection",
            "DataChannels", "HomeTypes", "STUN", "ICE", "DTLS", "DatagramPort", "SDP", "RTP", "Transport",
        ]),
    tests(
        "RTSPServerTests",
        [
            "RTSPServer", "StationFakes", "RTSP", "RTP", "SDP", "FragmentedMP4", "MediaRelay", "Intake", "Cameras",
            "Stations", "PushAvStreamTransport", "RecordingFakes", "DatagramPort", "Transport",
        ]),
    tests(
        "PushAvStreamTransportTests",
        [
            "PushAvStreamTransport", "RecordingFakes", "recording-writer", "StationFakes",
            "FragmentedMP4", "HomeTypes", "MediaRelay", "Cameras", "Codecs", "DatagramPort", "DTLS", "Stations", "SDP",
            "RTP", "Transport",
        ]),
    tests("HomeTypesTests", ["HomeTypes", "ExampleOrganization"]),
    tests("AutomationGraphTests", ["AutomationGraph", "HomeTypes", "Transport"]),
    tests("AutomationTests", ["Automation", "AutomationGraph", "HomeTypes"]),
    tests("MQTTDevicesTests", ["MQTTDevices", "HomeTypes", "Transport"]),
    tests("FuzzTargetsTests", ["FuzzTargets", "Transport"]),
]

switch coreTests {
case "0": targets.removeAll { $0.type == .test }
case "threads":
    let floors = ["System", "Media", "Services"].map { "Sources/\($0)/" }
    let threaded = Set(targets.filter { one in floors.contains { one.path?.hasPrefix($0) == true } }.map(\.name))
    targets.removeAll { $0.type == .test && !threaded.contains(String($0.name.dropLast("Tests".count))) }
    targets.removeAll { $0.path?.hasPrefix("Sources/Testing/Fuzz") == true }
default: break
}

var dependencies: [Package.Dependency] = []

// The protocol stack, for other programs. `Transport` and `DatagramPort` hold the types that the others speak.
var products: [Product] = [
    "Transport", "SDP", "STUN", "TURN", "RTP", "RTSP", "FragmentedMP4", "ICE", "SRTP", "DTLS", "PeerConnection",
    "DatagramPort", "MediaRelay", "HomeTypes",
].map { .library(name: $0, targets: [$0]) }

if !coreOnly {
    dependencies = [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
        .package(url: "https://github.com/apple/swift-nio-extras", from: "1.35.2"),
        .package(url: "https://github.com/apple/swift-nio-http2.git", from: "1.46.0"),
        .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.6"),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1"),
        .package(url: "https://github.com/jpsim/Yams", from: "6.2.2"),
        .package(url: "https://github.com/OpenCombine/OpenCombine", from: "0.14.0"),
        .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
    ]
    products.append(.executable(name: "gatehouse", targets: ["gatehouse"]))
    products += ["HomeSDK", "GoogleHomeSDK", "GoogleHomeTypes"].map { .library(name: $0, targets: [$0]) }
    targets += [
        // Only in programs that measure themselves: it stands in front of the C library's allocation functions.
        .target(name: "CAllocationCounter", path: "Sources/System/CAllocationCounter"),

        // What needs SQLite: the files that the home and the index of the recordings share, and that index.
        module("SQLiteFiles", floor: "System", [.product(name: "GRDB", package: "GRDB.swift")]),
        module(
            "RecordingIndex", floor: "Services",
            ["PushAvStreamTransport", "SQLiteFiles", .product(name: "GRDB", package: "GRDB.swift")]),

        // Floor 4, with the packages that it needs.
        module(
            "RecordingUpload", floor: "Services",
            [
                "PushAvStreamTransport", "DatagramPort", "Transport",
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOHTTP2", package: "swift-nio-http2"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
            ]),

        // Floor 5: the home.
        module(
            "HomeHub", floor: "Home",
            [
                "HomeTypes", "Signalling", "Stations", "PushAvStreamTransport", "DatagramPort", "Transport",
                "SQLiteFiles",
                .product(name: "GRDB", package: "GRDB.swift"),
            ]),

        module("SmartDeviceManagement", floor: "Home", ["HomeHub", "HomeTypes"]),
        module("CloudToCloud", floor: "Home", ["HomeHub", "HomeTypes", "Transport"]),

        // Floor 6: clients of a gateway.
        module(
            "GatewayClient", floor: "Client",
            [
                "HomeTypes", "Transport",
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOFoundationCompat", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
            ]),
        // The library that apps already know, on Combine where there is one.
        module(
            "HomeSDK", floor: "Client",
            [
                "AutomationGraph", "GatewayClient", "HomeTypes", "Transport",
                .product(name: "OpenCombine", package: "OpenCombine", condition: .when(platforms: [.linux])),
            ]),
        module(
            "GoogleHomeSDK", floor: "Client",
            [
                "AutomationGraph", "HomeSDK", "HomeTypes",
                .product(name: "OpenCombine", package: "OpenCombine", condition: .when(platforms: [.linux])),
                .product(name: "OpenCombineDispatch", package: "OpenCombine", condition: .when(platforms: [.linux])),
                .product(name: "OpenCombineFoundation", package: "OpenCombine", condition: .when(platforms: [.linux])),
            ]),
        module("GoogleHomeTypes", floor: "Client", ["GoogleHomeSDK"]),
        // The example of docs/swift-library.md. The package of the other examples is built without packages.
        .executableTarget(
            name: "home-watch", dependencies: ["GoogleHomeSDK", "GoogleHomeTypes"], path: "docs/examples/home-watch",
            swiftSettings: settings),
        module(
            "LiveViewClient", floor: "Client",
            [
                "Transport", "SDP", "RTP", "ICE", "DTLS", "PeerConnection", "DatagramPort", "HomeTypes",
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOFoundationCompat", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
            ]),

        // Floor 7: the process. `GATEHOUSE_COMMIT` names the commit that the program is built from.
        .target(
            name: "CCommit", path: "Sources/App/Commit",
            cSettings: Context.environment["GATEHOUSE_COMMIT"].map { [.define("GATEHOUSE_COMMIT", to: $0)] } ?? []),
        // The web page and the OpenAPI document are files, which C embeds in the program.
        .target(
            name: "CWebFiles", path: "Sources/App/WebFiles", exclude: ["page", "openapi.yaml"],
            sources: ["CWebFiles.c"]),
        module(
            "Gateway", floor: "App",
            [
                "Transport", "SDP", "STUN", "TURN", "Stations", "Signalling", "Cameras", "MediaRelay", "DatagramPort",
                "LocalNetwork", "PortMapping",
                "DTLS", "ICE",
                "HomeTypes",
                "HomeHub", "SmartDeviceManagement", "CloudToCloud", "MQTTDevices", "Automation", "AutomationGraph",
                "COpenSSL", "CZlib", "CFileStatus", "CMalloc", "CCommit",
                "CWebFiles",
                "RTSP", "RTSPServer", "ONVIF", "FragmentedMP4",
                "PushAvStreamTransport", "RecordingIndex", "RecordingUpload",
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "HummingbirdCore", package: "hummingbird"),
                .product(name: "HummingbirdTLS", package: "hummingbird"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "UnixSignals", package: "swift-service-lifecycle"),
                .product(name: "NIOConcurrencyHelpers", package: "swift-nio"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOHTTPTypes", package: "swift-nio-extras"),
                .product(name: "NIOHTTPTypesHTTP1", package: "swift-nio-extras"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
                .product(name: "NIOWebSocket", package: "swift-nio"),
                .product(name: "Yams", package: "Yams"),
            ]),
        // Other gateways' configs, for people who move here.
        module("Migration", floor: "App", [.product(name: "Yams", package: "Yams")]),
        module(
            "Benchmarks", floor: "App",
            [
                "Transport", "SDP", "RTP", "ICE", "DTLS", "PeerConnection", "MediaRelay", "DatagramPort",
                "LiveViewClient", "HomeTypes", "HomeHub", "Automation", "AutomationGraph", "COpenSSL", "CLinuxUDP",
                "CAllocationCounter", "Cameras",
                "Intake", "Stations", "PushAvStreamTransport", "RecordingIndex", "SQLiteFiles",
                .product(name: "GRDB", package: "GRDB.swift"),
            ]),
        .executableTarget(
            name: "gatehouse",
            dependencies: [
                "Gateway", "HomeHub", "CFileStatus", "GatewayClient", "LiveViewClient", "Benchmarks", "Migration",
                "Cameras",
                "Signalling", "ONVIF", "SDP",
                "RTP", "HomeTypes",
                "Codecs", "DTLS",
                "DatagramPort",
                "FragmentedMP4", "PushAvStreamTransport", "Transport",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "Yams", package: "Yams"),
            ],
            path: "Sources/App/gatehouse",
            swiftSettings: settings,
            // Short relocations, equal functions once, and none of its forty thousand symbols offered to libraries: the
            // process at rest is 5 MiB smaller. The linker comes with the toolchain.
            linkerSettings: [
                .unsafeFlags(
                    ["-use-ld=lld"]
                        + ["-z", "pack-relative-relocs", "--icf=safe", "--no-export-dynamic", "--gc-sections"]
                        .flatMap { ["-Xlinker", $0] },
                    .when(configuration: .release))
            ] + portableLinking),
        .target(
            name: "HomeFakes", dependencies: ["HomeHub", "HomeTypes", "Stations", "Signalling"],
            path: "Sources/Testing/HomeFakes", swiftSettings: settings),
        module(
            "GatewayFuzzTargets", floor: "Testing",
            [
                "FuzzTargets", "CloudToCloud", "Gateway", "GatewayClient", "HomeTypes", "Migration",
                "SmartDeviceManagement",
            ]),
        tests("GatewayFuzzTargetsTests", ["GatewayFuzzTargets", "FuzzTargets", "Transport"]),
        tests(
            "RecordingIndexTests",
            [
                "RecordingIndex", "PushAvStreamTransport", "Transport",
                .product(name: "GRDB", package: "GRDB.swift"),
            ]),
        tests(
            "HomeHubTests",
            [
                "HomeHub", "HomeTypes", "Signalling", "Stations", "PushAvStreamTransport", "HomeFakes",
                "Transport",
                .product(name: "GRDB", package: "GRDB.swift"),
            ]),
        tests("SmartDeviceManagementTests", ["SmartDeviceManagement", "HomeHub", "HomeTypes"]),
        tests(
            "CloudToCloudTests",
            ["CloudToCloud", "ExampleOrganization", "HomeFakes", "HomeHub", "HomeTypes", "Transport"]),
        tests("MigrationTests", ["Migration", "Gateway", "HomeTypes", "Transport"]),
        tests(
            "GatewayTests",
            [
                "Gateway", "Automation", "AutomationGraph", "CloudToCloud", "HomeHub", "HomeTypes", "MQTTDevices",
                "Stations", "StationFakes",
                "Signalling",
                "HomeFakes",
                "Cameras",
                "MediaRelay", "PushAvStreamTransport", "RecordingFakes", "RecordingUpload", "RTSP",
                "Codecs", "DatagramPort", "DTLS", "LocalNetwork", "ONVIF", "PortMapping", "SDP", "STUN", "TURN",
                "Transport",
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "HummingbirdTesting", package: "hummingbird"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOEmbedded", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOHTTPTypes", package: "swift-nio-extras"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ]),
        tests("GatewayClientTests", ["GatewayClient", "HomeTypes"]),
        .target(
            name: "GatewayProcess", dependencies: ["Transport"], path: "Sources/Testing/GatewayProcess",
            swiftSettings: settings),
        tests(
            "HomeSDKTests",
            [
                "HomeSDK", "AutomationGraph", "GatewayClient", "GatewayProcess", "HomeTypes", "ExampleOrganization",
                "Transport",
                .product(name: "OpenCombine", package: "OpenCombine", condition: .when(platforms: [.linux])),
            ]),
        // App code as the documents print it, with the warnings that it gives. It imports nothing but the two modules that
        // apps import; only the tests around it import more.
        .testTarget(
            name: "SnippetsTests",
            dependencies: [
                "GoogleHomeSDK", "GoogleHomeTypes", "ExampleOrganization", "GatewayProcess", "LiveViewClient", "DTLS",
                "HomeSDK", "HomeTypes", "GatewayClient",
            ],
            path: "Tests/SnippetsTests", swiftSettings: settings + [.unsafeFlags(["-suppress-warnings"])]),
        tests(
            "LiveViewClientTests",
            ["LiveViewClient", "Transport", "SDP", "ICE", "DTLS", "PeerConnection", "DatagramPort"]),
        tests("RecordingUploadTests", ["RecordingUpload", "PushAvStreamTransport", "Transport"]),
        // Records what a test hands it and uploads that, without cameras and without the rest of the gateway.
        .executableTarget(
            name: "upload-driver", dependencies: ["RecordingUpload", "PushAvStreamTransport", "Transport"],
            path: "Sources/Testing/upload-driver", swiftSettings: settings),
    ]
}

if fuzzing {
    // Of floors 5 to 7 what reads YAML and JSON needs one package. The rest of them, which needs all, is left out.
    if coreOnly {
        dependencies.append(.package(url: "https://github.com/jpsim/Yams", from: "6.2.2"))
        targets += [
            .target(
                name: "Gateway",
                dependencies: [
                    "CFileStatus", "DatagramPort", "HomeTypes", "RTSP", "STUN", "Transport",
                    .product(name: "Yams", package: "Yams"),
                ],
                path: "Sources/App/Gateway",
                sources: [
                    "Configuration/CameraAddress.swift", "Configuration/ConfigurationError.swift",
                    "Configuration/ConfigurationLoader+Automations.swift",
                    "Configuration/ConfigurationLoader+Cameras.swift",
                    "Configuration/ConfigurationLoader+Devices.swift",
                    "Configuration/ConfigurationLoader+CloudToCloud.swift",
                    "Configuration/ConfigurationLoader+History.swift",
                    "Configuration/ConfigurationLoader+Information.swift",
                    "Configuration/GatewayConfiguration+Automations.swift",
                    "Configuration/GatewayConfiguration+CloudToCloud.swift",
                    "Configuration/ConfigurationLoader+MQTT.swift", "Configuration/ConfigurationLoader+OAuth.swift",
                    "Configuration/GatewayConfiguration+Device.swift",
                    "Configuration/ConfigurationLoader+Push.swift",
                    "Configuration/ConfigurationLoader+Recording.swift", "Configuration/ConfigurationTexts.swift",
                    "Configuration/EnvironmentReferences.swift", "Configuration/GatewayConfiguration.swift",
                    "Configuration/GatewayConfiguration+Camera.swift", "Configuration/GatewayConfiguration+OAuth.swift",
                    "Configuration/GatewayConfiguration+MQTT.swift", "Configuration/GatewayConfiguration+Network.swift",
                    "Configuration/GatewayConfiguration+YAML.swift",
                    "Configuration/RegularFile.swift", "Configuration/YAMLReader.swift",
                    "Configuration/Reload/CameraEntry.swift",
                    "Configuration/Reload/GatewayConfiguration+Entry.swift", "Security/OriginPolicy.swift",
                ],
                swiftSettings: settings + coverage),
            .target(
                name: "CloudToCloud", dependencies: ["HomeTypes", "Transport"], path: "Sources/Home/CloudToCloud",
                exclude: ["CloudFulfilment.swift"], swiftSettings: settings + coverage),
            .target(
                name: "SmartDeviceManagement", dependencies: ["HomeTypes"], path: "Sources/Home/SmartDeviceManagement",
                sources: ["SDMCommand.swift", "SDMSubscription.swift"], swiftSettings: settings + coverage),
            .target(
                name: "GatewayClient", dependencies: ["HomeTypes"], path: "Sources/Client/GatewayClient",
                sources: ["EventStreamReader.swift", "GatewayEvent.swift"], swiftSettings: settings + coverage),
            .target(
                name: "Migration", dependencies: [.product(name: "Yams", package: "Yams")],
                path: "Sources/App/Migration", swiftSettings: settings + coverage),
            module(
                "GatewayFuzzTargets", floor: "Testing",
                [
                    "FuzzTargets", "CloudToCloud", "Gateway", "GatewayClient", "HomeTypes", "Migration",
                    "SmartDeviceManagement",
                ]),
        ]
    }
    targets += [
        .executableTarget(
            name: "fuzz", dependencies: ["FuzzTargets", "GatewayFuzzTargets"], path: "Sources/Testing/fuzz",
            swiftSettings: settings + [.unsafeFlags(["-parse-as-library"])],
            // The fuzzer's own runtime. Its `main` is not used: the program has one that chooses the target. The default
            // linker, gold, stops with an internal error when it puts this program together.
            linkerSettings: [.unsafeFlags(["-sanitize=fuzzer", "-use-ld=lld"])])
    ]
    products.append(.executable(name: "fuzz", targets: ["fuzz"]))
}

// `GATEHOUSE_TESTS=NAME,NAME` leaves only these test targets and what they depend on: while one module changes, nothing
// else is built and linked.
if let wanted = Context.environment["GATEHOUSE_TESTS"]?.split(separator: ",").map(String.init) {
    let known = Dictionary(uniqueKeysWithValues: targets.map { ($0.name, $0) })
    var needed: Set<String> = []
    var open = wanted
    while let name = open.popLast() {
        guard let target = known[name], needed.insert(name).inserted else { continue }
        for case .byNameItem(let dependency, _) in target.dependencies { open.append(dependency) }
        // It starts the gateway as a process.
        if name == "GatewayProcess" { open.append("gatehouse") }
    }
    targets.removeAll { !needed.contains($0.name) }
    products = []
}

let package = Package(name: "gatehouse", products: products, dependencies: dependencies, targets: targets)
