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
        // A release has short relocations (below), which glibc reads since 2.36. Ubuntu 22.04 has 2.35.
        [.unsafeFlags(["-L", $0, "\($0)/icudata.o", "-Xlinker", "-z", "-Xlinker", "nopack-relative-relocs"])]
    } ?? []

// The products of other packages that targets depend on, by their packages.
let productsByPackage = [
    "async-http-client": ["AsyncHTTPClient"],
    "GRDB.swift": ["GRDB"],
    "hummingbird": ["Hummingbird", "HummingbirdCore", "HummingbirdTLS", "HummingbirdTesting"],
    "OpenCombine": ["OpenCombine", "OpenCombineDispatch", "OpenCombineFoundation"],
    "swift-argument-parser": ["ArgumentParser"],
    "swift-http-types": ["HTTPTypes"],
    "swift-log": ["Logging"],
    "swift-nio": [
        "NIOConcurrencyHelpers", "NIOCore", "NIOEmbedded", "NIOFoundationCompat", "NIOHTTP1", "NIOPosix",
        "NIOWebSocket",
    ],
    "swift-nio-extras": ["NIOHTTPTypes", "NIOHTTPTypesHTTP1"],
    "swift-nio-http2": ["NIOHTTP2"],
    "swift-nio-ssl": ["NIOSSL"],
    "swift-service-lifecycle": ["ServiceLifecycle", "UnixSignals"],
    "Yams": ["Yams"],
]
let packageOfProduct = Dictionary(
    uniqueKeysWithValues: productsByPackage.flatMap { package, products in products.map { ($0, package) } })

/// What a target depends on, by names: targets of this package, and products of others.
func dependencies(_ names: [String]) -> [Target.Dependency] {
    names.map { name in
        guard let package = packageOfProduct[name] else { return .byName(name: name) }
        // Apple's systems have Combine itself.
        let condition: TargetDependencyCondition? = package == "OpenCombine" ? .when(platforms: [.linux]) : nil
        return .product(name: name, package: package, condition: condition)
    }
}

/// The floors by their folders in `Sources/`.
enum Floor: String {
    case system = "System"
    case wire = "Wire"
    case peer = "Peer"
    case media = "Media"
    case services = "Services"
    case home = "Home"
    case client = "Client"
    case app = "App"
    case testing = "Testing"

    /// Modules of the floor, in their order, with what they depend on.
    func modules(_ modules: KeyValuePairs<String, [String]>) -> [Target] {
        modules.map { part(of: "\(rawValue)/\($0)", $1) }
    }
}

/// A module, or the part of it that a fuzz target needs.
func part(of folder: String, _ names: [String], exclude: [String] = [], sources: [String]? = nil) -> Target {
    .target(
        name: String(folder.split(separator: "/")[1]), dependencies: dependencies(names), path: "Sources/\(folder)",
        exclude: exclude, sources: sources, swiftSettings: settings + coverage)
}

/// Support of the tests that no fuzz target runs, so that the fuzzer need not see its code.
func testSupport(_ name: String, _ names: [String] = [], exclude: [String] = []) -> Target {
    .target(
        name: name, dependencies: dependencies(names), path: "Sources/Testing/\(name)", exclude: exclude,
        swiftSettings: settings)
}

func program(_ name: String, path: String, _ names: [String]) -> Target {
    .executableTarget(name: name, dependencies: dependencies(names), path: path, swiftSettings: settings)
}

func tests(_ targets: KeyValuePairs<String, [String]>) -> [Target] {
    targets.map { name, names in
        .testTarget(
            name: name, dependencies: dependencies(names), path: "Tests/\(name)",
            // The tests read these files where they are.
            exclude: name == "DTLSTests" ? ["Fixtures"] : [], swiftSettings: settings)
    }
}

func systemLibrary(_ name: String, pkgConfig: String, apt: String) -> Target {
    .systemLibrary(
        name: name, path: "Sources/System/\(name)", pkgConfig: pkgConfig, providers: [.apt([apt])])
}

/// A target in C, with the library that it wraps.
func wrapper(_ name: String, links library: String? = nil) -> Target {
    .target(
        name: name, path: "Sources/System/\(name)", linkerSettings: library.map { [.linkedLibrary($0)] } ?? [])
}

// Floor 0: system libraries, and the values that every floor shares.
var targets: [Target] = [
    systemLibrary("COpenSSL", pkgConfig: "openssl", apt: "libssl-dev"),
    systemLibrary("CSRTP", pkgConfig: "libsrtp2", apt: "libsrtp2-dev"),
    systemLibrary("COpenH264", pkgConfig: "openh264", apt: "libopenh264-dev"),
    systemLibrary("CMosquitto", pkgConfig: "libmosquitto", apt: "libmosquitto-dev"),
    systemLibrary("CExpat", pkgConfig: "expat", apt: "libexpat1-dev"),
    systemLibrary("CPNG", pkgConfig: "libpng", apt: "libpng-dev"),
    systemLibrary("CZlib", pkgConfig: "zlib", apt: "zlib1g-dev"),
    wrapper("COpus", links: "opus"),
    wrapper("CVPX", links: "vpx"),
    // Loads libavcodec when it is first needed; only its headers are used here.
    wrapper("CAVCodec", links: "dl"),
    wrapper("CJPEG", links: "jpeg"),
    wrapper("CLinuxUDP"),
    // The requests of Video4Linux, whose numbers and structures Swift does not import.
    wrapper("CLinuxVideo"),
    // libusrsctp, with functions that hide its structures.
    wrapper("CUSRSCTP", links: "usrsctp"),
    wrapper("CFileStatus"),
    wrapper("CProgramPages"),
    .systemLibrary(name: "CMalloc", path: "Sources/System/CMalloc"),
]
targets += Floor.system.modules(["Transport": []])

// Floor 1: bytes to values and back.
targets += Floor.wire.modules([
    "SDP": ["Transport"],
    "STUN": ["Transport", "COpenSSL"],
    "TURN": ["Transport", "STUN", "COpenSSL"],
    "MulticastDNS": ["Transport"],
    "RTP": ["Transport"],
    "RTSP": ["Transport", "COpenSSL"],
    "XML": ["CExpat"],
    "HTTPMedia": ["RTSP"],
    "ONVIF": ["Transport", "RTSP", "XML", "HTTPMedia", "COpenSSL"],
    "PortMapping": ["Transport", "XML", "HTTPMedia"],
    "FragmentedMP4": ["Transport", "RTP"],
    "StreamFormats": ["Transport", "RTP", "FragmentedMP4"],
])
// tools/generate-traits reads its data files.
targets.append(part(of: "Wire/HomeTypes", [], exclude: ["Traits", "Types"]))
targets += Floor.wire.modules(["AutomationGraph": ["HomeTypes"]])

// Floor 2: protocol state machines without I/O.
targets += Floor.peer.modules([
    "ICE": ["Transport", "STUN"],
    "SRTP": ["COpenSSL"],
    "DTLS": ["Transport", "SRTP", "COpenSSL"],
    "TLS": ["COpenSSL"],
    "PeerConnection": ["Transport", "SDP", "STUN", "ICE", "DTLS", "SRTP"],
    "SCTP": ["Transport", "CUSRSCTP"],
    "Congestion": ["Transport"],
])

// Floor 3: packets, cameras, codecs and the socket.
targets += Floor.media.modules([
    "Codecs": ["SDP", "RTP", "COpus", "CVPX", "COpenH264", "CPNG", "CJPEG", "CAVCodec"],
    "DatagramPort": ["Transport", "CLinuxUDP"],
    "MediaRelay": [
        "Transport", "SDP", "STUN", "TURN", "RTP", "ICE", "TLS", "DTLS", "PeerConnection", "Congestion", "DatagramPort",
    ],
    "LocalNetwork": ["Transport", "MulticastDNS", "PortMapping", "HTTPMedia", "DatagramPort"],
    "DataChannels": ["Transport", "SCTP", "DatagramPort"],
    "Intake": ["Transport", "SDP", "RTP", "Codecs"],
    "Cameras": [
        "Transport", "SDP", "RTP", "RTSP", "XML", "HTTPMedia", "ONVIF", "StreamFormats", "Codecs", "DatagramPort",
        "Intake", "COpenSSL", "CLinuxVideo",
    ],
])

// Floor 4: the runtime of a camera, and what clients hold of it as leases.
targets += Floor.services.modules([
    "Stations": [
        "Transport", "SDP", "RTP", "RTSP", "ONVIF", "Codecs", "DatagramPort", "MediaRelay", "Intake", "Cameras",
    ],
    "Signalling": [
        "Transport", "SDP", "RTP", "ICE", "DTLS", "PeerConnection", "SCTP", "DatagramPort", "MediaRelay",
        "DataChannels", "HomeTypes", "Cameras", "Codecs", "Stations",
    ],
    "PushAvStreamTransport": [
        "Transport", "CFileStatus", "COpenSSL", "SDP", "RTP", "FragmentedMP4", "HomeTypes", "Codecs", "DatagramPort",
        "MediaRelay", "Cameras", "Stations",
    ],
    "RTSPServer": [
        "Transport", "SDP", "RTP", "RTSP", "DatagramPort", "MediaRelay", "Cameras", "Stations", "FragmentedMP4",
        "PushAvStreamTransport",
    ],
])

// The part of floor 5 that needs no package.
targets += Floor.home.modules([
    "MQTTDevices": ["HomeTypes", "DatagramPort", "Transport", "CMosquitto"],
    "Automation": ["AutomationGraph", "HomeTypes"],
])

// Support of tests.
targets += [
    testSupport("NetworkSimulator", ["Transport"]),
    testSupport("HeapMeter"),
    // A vendor's traits, which tools/generate-traits writes from the data files beside them.
    testSupport("ExampleOrganization", ["HomeTypes"], exclude: ["Traits", "Types"]),
    program(
        "recording-writer", path: "Sources/Testing/recording-writer", ["PushAvStreamTransport", "RecordingFakes"]),
]
targets += Floor.testing.modules([
    "PacketFakes": ["RTP", "StreamFormats"],
    "TURNFakes": ["Transport", "STUN", "TURN", "COpenSSL"],
    "TLSFakes": ["COpenSSL"],
    "StationFakes": [
        "Transport", "SDP", "RTP", "Codecs", "DatagramPort", "MediaRelay", "Intake", "Cameras", "Stations",
    ],
    "RecordingFakes": ["Codecs", "FragmentedMP4", "PushAvStreamTransport", "Transport"],
    "PeerFakes": ["Transport", "RTP", "ICE", "DTLS", "PeerConnection", "NetworkSimulator"],
    "FuzzTargets": [
        "Transport", "SDP", "STUN", "TURN", "MulticastDNS", "PortMapping", "LocalNetwork", "RTP", "RTSP", "XML",
        "HTTPMedia", "ONVIF", "FragmentedMP4", "StreamFormats", "PacketFakes", "ICE", "SRTP", "DTLS", "SCTP", "Codecs",
        "Cameras", "Signalling", "PushAvStreamTransport", "MQTTDevices", "AutomationGraph", "Automation", "HomeTypes",
    ],
])

targets += tests([
    "TransportTests": ["Transport"],
    "SDPTests": ["SDP", "Transport"],
    "STUNTests": ["STUN", "Transport"],
    "TURNTests": ["TURN", "TURNFakes", "STUN", "Transport"],
    "MulticastDNSTests": ["MulticastDNS", "Transport"],
    "PortMappingTests": ["PortMapping", "HTTPMedia", "Transport"],
    "ICETests": ["ICE", "STUN", "TURN", "TURNFakes", "Transport", "NetworkSimulator"],
    "RTPTests": ["RTP", "Transport"],
    "FragmentedMP4Tests": ["FragmentedMP4", "RTP", "Transport"],
    "XMLTests": ["XML", "Transport"],
    "HTTPMediaTests": ["HTTPMedia", "RTSP", "Codecs", "Transport"],
    "StreamFormatsTests": ["StreamFormats", "FragmentedMP4", "PacketFakes", "Transport"],
    "ONVIFTests": ["ONVIF", "XML", "HTTPMedia", "RTSP", "Transport"],
    "RTSPTests": ["RTSP", "Transport"],
    "IntakeTests": ["Intake", "PacketFakes", "SDP", "RTP", "Transport"],
    "CamerasTests": [
        "Cameras", "StationFakes", "Intake", "PacketFakes", "HTTPMedia", "StreamFormats", "ONVIF", "RTSP", "RTP", "SDP",
        "Codecs",
        "DatagramPort", "Transport",
    ],
    "CodecsTests": ["Codecs", "SDP", "RTP", "Transport"],
    "DTLSTests": ["DTLS", "SRTP", "COpenSSL", "Transport", "HeapMeter"],
    "TLSTests": ["TLS", "TLSFakes"],
    "SRTPTests": ["SRTP", "CSRTP", "Transport"],
    "PeerConnectionTests": [
        "PeerConnection", "PeerFakes", "ICE", "DTLS", "SRTP", "RTP", "STUN", "Transport", "NetworkSimulator",
        "HeapMeter", "SDP",
    ],
    "SCTPTests": ["SCTP", "Transport"],
    "CongestionTests": ["Congestion", "Transport"],
    "LocalNetworkTests": ["LocalNetwork", "DatagramPort", "HTTPMedia", "PortMapping", "Transport"],
    "DataChannelsTests": ["DataChannels", "SCTP", "Transport"],
    "DatagramPortTests": ["DatagramPort", "CLinuxUDP", "Transport"],
    "MediaRelayTests": [
        "MediaRelay", "PeerFakes", "PeerConnection", "Congestion", "ICE", "DTLS", "STUN", "TURN", "TURNFakes",
        "TLSFakes", "RTP", "SDP", "DatagramPort", "Transport", "NetworkSimulator",
    ],
    "StationsTests": [
        "Stations", "StationFakes", "MediaRelay", "Cameras", "Codecs", "DatagramPort", "SDP", "RTP", "RTSP",
        "Transport",
    ],
    "SignallingTests": [
        "Signalling", "Stations", "StationFakes", "PeerFakes", "MediaRelay", "Cameras", "Codecs", "PeerConnection",
        "DataChannels", "HomeTypes", "STUN", "ICE", "DTLS", "DatagramPort", "SDP", "RTP", "Transport",
    ],
    "RTSPServerTests": [
        "RTSPServer", "StationFakes", "RTSP", "RTP", "SDP", "FragmentedMP4", "MediaRelay", "Intake", "Cameras",
        "Stations", "PushAvStreamTransport", "RecordingFakes", "DatagramPort", "Transport",
    ],
    "PushAvStreamTransportTests": [
        "PushAvStreamTransport", "RecordingFakes", "recording-writer", "StationFakes", "FragmentedMP4", "HomeTypes",
        "MediaRelay", "Cameras", "Codecs", "DatagramPort", "DTLS", "Stations", "SDP", "RTP", "Transport",
    ],
    "HomeTypesTests": ["HomeTypes", "ExampleOrganization"],
    "AutomationGraphTests": ["AutomationGraph", "HomeTypes", "Transport"],
    "AutomationTests": ["Automation", "AutomationGraph", "HomeTypes"],
    "MQTTDevicesTests": ["MQTTDevices", "HomeTypes", "Transport"],
    "FuzzTargetsTests": ["FuzzTargets", "Transport"],
])

switch coreTests {
case "0": targets.removeAll { $0.type == .test }
case "threads":
    let floors = ["System", "Media", "Services"].map { "Sources/\($0)/" }
    let threaded = Set(targets.filter { one in floors.contains { one.path?.hasPrefix($0) == true } }.map(\.name))
    targets.removeAll { $0.type == .test && !threaded.contains(String($0.name.dropLast("Tests".count))) }
    targets.removeAll { $0.path?.hasPrefix("Sources/Testing/Fuzz") == true }
default: break
}

let gatewayFuzzTargets = Floor.testing.modules([
    "GatewayFuzzTargets": [
        "FuzzTargets", "CloudToCloud", "Gateway", "GatewayClient", "HomeTypes", "Migration", "SmartDeviceManagement",
    ]
])

var packages: [Package.Dependency] = []

// The protocol stack, for other programs. `Transport` and `DatagramPort` hold the types that the others speak.
var products: [Product] = [
    "Transport", "SDP", "STUN", "TURN", "RTP", "RTSP", "FragmentedMP4", "ICE", "SRTP", "DTLS", "PeerConnection",
    "DatagramPort", "MediaRelay", "HomeTypes",
].map { .library(name: $0, targets: [$0]) }

if !coreOnly {
    packages = [
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

    // Only in programs that measure themselves: it stands in front of the C library's allocation functions.
    targets.append(wrapper("CAllocationCounter"))

    // What needs SQLite: the files that the home and the index of the recordings share, and that index.
    targets += Floor.system.modules(["SQLiteFiles": ["GRDB"]])

    // Floor 4, with the packages that it needs.
    targets += Floor.services.modules([
        "RecordingIndex": ["PushAvStreamTransport", "SQLiteFiles", "GRDB"],
        "RecordingUpload": [
            "PushAvStreamTransport", "DatagramPort", "Transport", "AsyncHTTPClient", "NIOCore", "NIOHTTP1", "NIOHTTP2",
            "NIOPosix", "NIOSSL",
        ],
    ])

    // Floor 5: the home.
    targets += Floor.home.modules([
        "HomeHub": [
            "HomeTypes", "Signalling", "Stations", "PushAvStreamTransport", "DatagramPort", "Transport", "SQLiteFiles",
            "GRDB",
        ],
        "SmartDeviceManagement": ["HomeHub", "HomeTypes"],
        "CloudToCloud": ["HomeHub", "HomeTypes", "Transport"],
    ])

    // Floor 6: clients of a gateway. `HomeSDK` is the library that apps already know, on Combine where there is one.
    targets += Floor.client.modules([
        "GatewayClient": [
            "HomeTypes", "Transport", "AsyncHTTPClient", "NIOCore", "NIOFoundationCompat", "NIOHTTP1", "NIOSSL",
        ],
        "HomeSDK": ["AutomationGraph", "GatewayClient", "HomeTypes", "Transport", "OpenCombine"],
        "GoogleHomeSDK": [
            "AutomationGraph", "HomeSDK", "HomeTypes", "OpenCombine", "OpenCombineDispatch", "OpenCombineFoundation",
        ],
        "GoogleHomeTypes": ["GoogleHomeSDK"],
        "LiveViewClient": [
            "Transport", "SDP", "STUN", "RTP", "ICE", "DTLS", "PeerConnection", "DatagramPort", "HomeTypes",
            "AsyncHTTPClient", "NIOCore", "NIOFoundationCompat", "NIOHTTP1",
        ],
    ])
    // The example of docs/swift-library.md. The package of the other examples is built without packages.
    targets.append(program("home-watch", path: "docs/examples/home-watch", ["GoogleHomeSDK", "GoogleHomeTypes"]))

    // Floor 7: the process. `Migration` reads other gateways' configs, for people who move here.
    targets += [
        // `GATEHOUSE_COMMIT` names the commit that the program is built from.
        .target(
            name: "CCommit", path: "Sources/App/Commit",
            cSettings: Context.environment["GATEHOUSE_COMMIT"].map { [.define("GATEHOUSE_COMMIT", to: $0)] } ?? []),
        // The web page and the OpenAPI document are files, which C embeds in the program.
        .target(
            name: "CWebFiles", path: "Sources/App/WebFiles", exclude: ["page", "openapi.yaml"],
            sources: ["CWebFiles.c"]),
    ]
    targets += Floor.app.modules([
        "Gateway": [
            "Transport", "SDP", "STUN", "TURN", "Stations", "Signalling", "Cameras", "MediaRelay", "DatagramPort",
            "LocalNetwork", "PortMapping", "DTLS", "ICE", "HomeTypes", "HomeHub", "SmartDeviceManagement",
            "CloudToCloud", "MQTTDevices", "Automation", "AutomationGraph", "COpenSSL", "CZlib", "CFileStatus",
            "CMalloc", "CProgramPages", "CCommit", "CWebFiles", "RTSP", "RTSPServer", "HTTPMedia", "ONVIF",
            "FragmentedMP4", "PushAvStreamTransport",
            "RecordingIndex", "RecordingUpload", "AsyncHTTPClient", "Hummingbird", "HummingbirdCore", "HummingbirdTLS",
            "HTTPTypes", "Logging", "ServiceLifecycle", "UnixSignals", "NIOConcurrencyHelpers", "NIOCore", "NIOHTTP1",
            "NIOHTTPTypes", "NIOHTTPTypesHTTP1", "NIOSSL", "NIOWebSocket", "Yams",
        ],
        "Migration": ["Yams", "RTSP"],
        "Benchmarks": [
            "Transport", "SDP", "RTP", "ICE", "DTLS", "PeerConnection", "Congestion", "MediaRelay", "DatagramPort",
            "LiveViewClient", "HomeTypes", "HomeHub", "Automation", "AutomationGraph", "COpenSSL", "CLinuxUDP",
            "CAllocationCounter", "Cameras", "Intake", "Stations", "PushAvStreamTransport", "RecordingIndex",
            "SQLiteFiles", "GRDB",
        ],
    ])
    targets.append(
        .executableTarget(
            name: "gatehouse",
            dependencies: dependencies([
                "Gateway", "HomeHub", "CFileStatus", "GatewayClient", "LiveViewClient", "Benchmarks", "Migration",
                "Cameras", "Signalling", "ONVIF", "SDP", "STUN", "RTP", "HomeTypes", "Codecs", "DTLS", "DatagramPort",
                "FragmentedMP4", "PushAvStreamTransport", "Transport", "ArgumentParser", "Hummingbird", "Yams",
            ]),
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
            ] + portableLinking))

    targets += [
        testSupport("HomeFakes", ["HomeHub", "HomeTypes", "Stations", "Signalling"]),
        testSupport("GatewayProcess", ["Transport"]),
        // Records what a test hands it and uploads that, without cameras and without the rest of the gateway.
        program(
            "upload-driver", path: "Sources/Testing/upload-driver",
            ["RecordingUpload", "PushAvStreamTransport", "Transport"]),
    ]
    targets += gatewayFuzzTargets
    targets += tests([
        "GatewayFuzzTargetsTests": ["GatewayFuzzTargets", "FuzzTargets", "Transport"],
        "RecordingIndexTests": ["RecordingIndex", "PushAvStreamTransport", "Transport", "GRDB"],
        "HomeHubTests": [
            "HomeHub", "HomeTypes", "Signalling", "Stations", "PushAvStreamTransport", "HomeFakes", "Transport", "GRDB",
        ],
        "SmartDeviceManagementTests": ["SmartDeviceManagement", "HomeHub", "HomeTypes"],
        "CloudToCloudTests": ["CloudToCloud", "ExampleOrganization", "HomeFakes", "HomeHub", "HomeTypes", "Transport"],
        "MigrationTests": ["Migration", "Gateway", "HomeTypes", "Transport"],
        "GatewayTests": [
            "Gateway", "Automation", "AutomationGraph", "CloudToCloud", "HomeHub", "HomeTypes", "MQTTDevices",
            "Stations", "StationFakes", "Signalling", "HomeFakes", "Cameras", "MediaRelay", "PushAvStreamTransport",
            "RecordingFakes", "RecordingUpload", "RTSP", "Codecs", "DatagramPort", "DTLS", "LocalNetwork", "HTTPMedia",
            "ONVIF",
            "PortMapping", "SDP", "STUN", "TURN", "Transport", "Hummingbird", "HummingbirdTesting", "HTTPTypes",
            "Logging", "NIOCore", "NIOEmbedded", "NIOHTTP1", "NIOHTTPTypes", "NIOPosix", "ServiceLifecycle",
        ],
        "GatewayClientTests": ["GatewayClient", "HomeTypes"],
        "HomeSDKTests": [
            "HomeSDK", "AutomationGraph", "GatewayClient", "GatewayProcess", "HomeTypes", "ExampleOrganization",
            "Transport", "OpenCombine",
        ],
        "LiveViewClientTests": ["LiveViewClient", "Transport", "SDP", "ICE", "DTLS", "PeerConnection", "DatagramPort"],
        "RecordingUploadTests": ["RecordingUpload", "PushAvStreamTransport", "Transport"],
    ])
    targets.append(
        // App code as the documents print it, with the warnings that it gives. It imports nothing but the two modules that
        // apps import; only the tests around it import more.
        .testTarget(
            name: "SnippetsTests",
            dependencies: dependencies([
                "GoogleHomeSDK", "GoogleHomeTypes", "ExampleOrganization", "GatewayProcess", "LiveViewClient", "DTLS",
                "HomeSDK", "HomeTypes", "GatewayClient",
            ]),
            path: "Tests/SnippetsTests", swiftSettings: settings + [.unsafeFlags(["-suppress-warnings"])]))
}

if fuzzing {
    // Of floors 5 to 7 what reads YAML and JSON needs one package. The rest of them, which needs all, is left out.
    if coreOnly {
        packages.append(.package(url: "https://github.com/jpsim/Yams", from: "6.2.2"))
        targets += [
            part(
                of: "App/Gateway",
                [
                    "CFileStatus", "Cameras", "DatagramPort", "HomeTypes", "HTTPMedia", "RTSP", "STUN", "Transport",
                    "Yams",
                ],
                sources: [
                    "CameraAddress", "ConfigurationDraft", "ConfigurationError", "ConfigurationLoader+Automations",
                    "ConfigurationLoader+Cameras", "ConfigurationLoader+CloudToCloud", "ConfigurationLoader+Devices",
                    "ConfigurationLoader+History", "ConfigurationLoader+Information", "ConfigurationLoader+MQTT",
                    "ConfigurationLoader+OAuth", "ConfigurationLoader+Push", "ConfigurationLoader+Recording",
                    "ConfigurationTexts", "EnvironmentReferences", "GatewayConfiguration",
                    "GatewayConfiguration+Automations", "GatewayConfiguration+Camera",
                    "GatewayConfiguration+CloudToCloud", "GatewayConfiguration+Device", "GatewayConfiguration+MQTT",
                    "GatewayConfiguration+Network", "GatewayConfiguration+OAuth", "GatewayConfiguration+YAML",
                    "RegularFile", "Reload/CameraEntry", "Reload/CameraEntry+Written",
                    "Reload/GatewayConfiguration+Entry", "YAMLReader",
                ].map { "Configuration/\($0).swift" } + ["Security/OriginPolicy.swift"]),
            part(
                of: "Home/CloudToCloud", ["HomeTypes", "Transport"], exclude: ["CloudFulfilment.swift"]),
            part(
                of: "Home/SmartDeviceManagement", ["HomeTypes"],
                sources: ["SDMCommand.swift", "SDMSubscription.swift"]),
            part(
                of: "Client/GatewayClient", ["HomeTypes"], sources: ["EventStreamReader.swift", "GatewayEvent.swift"]),
            part(of: "App/Migration", ["Yams", "RTSP"]),
        ]
        targets += gatewayFuzzTargets
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

let package = Package(name: "gatehouse", products: products, dependencies: packages, targets: targets)
