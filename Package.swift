// swift-tools-version: 6.1
import PackageDescription

// The floors of the house (docs/architecture.md). A target may depend only on targets of floors below its own, or on
// one that stands before it on its own floor.

// Floors 0 to 4 need no package at all. `GATEHOUSE_CORE=1` leaves the floors above out, so that the sanitizer builds
// of the unit tests do not compile SwiftNIO and BoringSSL again.
let coreOnly = Context.environment["GATEHOUSE_CORE"] == "1"

// `GATEHOUSE_FUZZ=1` adds the program `fuzz` (docs/fuzzing.md), and what it needs to see which code an input reaches.
// It needs `--sanitize=address` as well.
let fuzzing = Context.environment["GATEHOUSE_FUZZ"] == "1"
let coverage: [SwiftSetting] = fuzzing ? [.unsafeFlags(["-sanitize=fuzzer"])] : []

// `GATEHOUSE_OPTIMIZED=NAME,NAME` optimises these targets of a debug build. Assertions are off then: with them the standard library
// checks each access to a buffer, and drawing takes minutes.
let optimized = Set(Context.environment["GATEHOUSE_OPTIMIZED"]?.split(separator: ",").map(String.init) ?? [])
func optimization(of target: String) -> [SwiftSetting] {
    guard optimized.contains(target) else { return [] }
    return [.unsafeFlags(["-O"], .when(configuration: .debug))]
}

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

/// Splits a text at its white space.
func words(_ text: String) -> [String] { text.split { $0.isWhitespace }.map(String.init) }

/// The packages that the upper floors need: where on GitHub, from which version on, and which of their products.
let otherPackages: [(owner: String, name: String, version: Version, products: String)] = [
    ("apple", "swift-argument-parser", "1.8.2", "ArgumentParser"),
    ("apple", "swift-http-types", "1.8.0", "HTTPTypes"),
    ("apple", "swift-log", "1.16.2", "Logging"),
    (
        "apple", "swift-nio", "2.101.2",
        "NIOConcurrencyHelpers NIOCore NIOEmbedded NIOFoundationCompat NIOHTTP1 NIOPosix NIOWebSocket"
    ),
    ("apple", "swift-nio-extras", "1.35.2", "NIOHTTPTypes NIOHTTPTypesHTTP1"),
    ("apple", "swift-nio-http2.git", "1.46.0", "NIOHTTP2"),
    ("apple", "swift-nio-ssl", "2.37.6", "NIOSSL"),
    ("groue", "GRDB.swift", "7.10.0", "GRDB"),
    ("hummingbird-project", "hummingbird", "2.28.1", "Hummingbird HummingbirdCore HummingbirdTLS HummingbirdTesting"),
    ("jpsim", "Yams", "6.2.2", "Yams"),
    ("OpenCombine", "OpenCombine", "0.14.0", "OpenCombine OpenCombineDispatch OpenCombineFoundation"),
    ("swift-server", "async-http-client", "1.37.0", "AsyncHTTPClient"),
    ("swift-server", "swift-service-lifecycle", "2.13.0", "ServiceLifecycle UnixSignals"),
]
let packageOfProduct = Dictionary(
    uniqueKeysWithValues: otherPackages.flatMap { other in
        let name = other.name.hasSuffix(".git") ? String(other.name.dropLast(4)) : other.name
        return words(other.products).map { ($0, name) }
    })

/// What a target depends on, by names: targets of this package, and products of others.
func dependencies(_ names: [String]) -> [Target.Dependency] {
    names.map { name in
        guard let package = packageOfProduct[name] else { return .byName(name: name) }
        // Apple's systems have Combine itself.
        let condition: TargetDependencyCondition? = package == "OpenCombine" ? .when(platforms: [.linux]) : nil
        return .product(name: name, package: package, condition: condition)
    }
}

/// What is not compiled of a target's folder.
let excluded = [
    // tools/generate-traits reads its data files.
    "HomeTypes": ["Traits", "Types"], "ExampleOrganization": ["Traits", "Types"],
    // The tests read these files where they are.
    "DTLSTests": ["Fixtures"],
]

/// A module, or the part of it that a fuzz target needs.
func part(
    of folder: String, _ names: [String], exclude: [String]? = nil, sources: [String]? = nil, isCovered: Bool = true
) -> Target {
    let name = String(folder.split(separator: "/")[1])
    return .target(
        name: name, dependencies: dependencies(names), path: "Sources/\(folder)",
        exclude: exclude ?? excluded[name] ?? [], sources: sources,
        swiftSettings: settings + (isCovered ? coverage : []) + optimization(of: name))
}

/// Support of the tests that no fuzz target runs, so that the fuzzer need not see its code.
func testSupport(_ name: String, _ names: [String] = []) -> Target {
    part(of: "Testing/\(name)", names, isCovered: false)
}

/// The targets of a table. A word that ends with a slash names their folder in `Sources`, or that of the tests. A word
/// that ends with a colon names a target, and the words after it are what it depends on. A line that begins with two
/// slashes is a comment.
func table(_ text: String) -> [Target] {
    var folder = ""
    var rows: [(folder: String, name: String, dependencies: [String])] = []
    for line in text.split(separator: "\n") where !line.hasPrefix("//") {
        for word in words(String(line)) {
            switch word.last {
            case "/": folder = String(word.dropLast())
            case ":": rows.append((folder, String(word.dropLast()), []))
            default: rows[rows.count - 1].dependencies.append(word)
            }
        }
    }
    return rows.map { folder, name, names in
        guard folder == "Tests" else { return part(of: "\(folder)/\(name)", names) }
        return .testTarget(
            name: name, dependencies: dependencies(names), path: "Tests/\(name)", exclude: excluded[name] ?? [],
            swiftSettings: settings + optimization(of: name))
    }
}

/// A program in a folder of its name.
func program(
    _ name: String, in folder: String, _ names: [String], settings own: [SwiftSetting] = [],
    linkerSettings: [LinkerSetting] = []
) -> Target {
    .executableTarget(
        name: name, dependencies: dependencies(names), path: "\(folder)/\(name)", swiftSettings: settings + own,
        linkerSettings: linkerSettings)
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
targets += table(
    """
    // Floor 0: system libraries, and the values that every floor shares.
    System/
        Transport:
    // Floor 1: bytes to values and back.
    Wire/
        SDP: Transport
        STUN: Transport COpenSSL
        TURN: Transport STUN COpenSSL
        MulticastDNS: Transport
        RTP: Transport
        RTSP: Transport COpenSSL
        XML: CExpat
        HTTPMedia: RTSP
        ONVIF: Transport RTSP XML HTTPMedia COpenSSL
        PortMapping: Transport XML HTTPMedia
        FragmentedMP4: Transport RTP
        StreamFormats: Transport RTP FragmentedMP4
        HomeTypes:
        AutomationGraph: HomeTypes
    // Floor 2: protocol state machines without I/O.
    Peer/
        ICE: Transport STUN
        SRTP: COpenSSL
        DTLS: Transport SRTP COpenSSL
        TLS: COpenSSL
        PeerConnection: Transport SDP STUN ICE DTLS SRTP
        SCTP: Transport CUSRSCTP
        Congestion: Transport
    // Floor 3: packets, cameras, codecs and the socket.
    Media/
        Codecs: SDP RTP COpus CVPX COpenH264 CPNG CJPEG CAVCodec
        DatagramPort: Transport CLinuxUDP
        MediaRelay: Transport SDP STUN TURN RTP ICE TLS DTLS PeerConnection Congestion DatagramPort
        LocalNetwork: Transport MulticastDNS PortMapping HTTPMedia DatagramPort
        DataChannels: Transport SCTP DatagramPort
        Intake: Transport SDP RTP Codecs
        BuiltInPictures: Codecs
        Cameras: Transport SDP RTP RTSP XML HTTPMedia ONVIF StreamFormats Codecs BuiltInPictures DatagramPort Intake
            COpenSSL CLinuxVideo
    // Floor 4: the runtime of a camera, and what clients hold of it as leases.
    Services/
        Stations: Transport SDP RTP RTSP ONVIF Codecs DatagramPort MediaRelay Intake Cameras
        Signalling: Transport SDP RTP ICE DTLS PeerConnection SCTP DatagramPort MediaRelay DataChannels HomeTypes
            Cameras Codecs Stations
        PushAvStreamTransport: Transport CFileStatus COpenSSL SDP RTP FragmentedMP4 HomeTypes Codecs DatagramPort
            MediaRelay Cameras Stations
        RTSPServer: Transport SDP RTP RTSP DatagramPort MediaRelay Cameras Stations Signalling FragmentedMP4
            PushAvStreamTransport
        RTMPServer: Transport DatagramPort StreamFormats Cameras Signalling
    // The part of floor 5 that needs no package.
    Home/
        MQTTDevices: HomeTypes DatagramPort Transport CMosquitto CLinuxUDP
        Automation: AutomationGraph HomeTypes
    """)

targets += [
    testSupport("NetworkSimulator", ["Transport"]),
    testSupport("HeapMeter"),
    // A vendor's traits, which tools/generate-traits writes from the data files beside them.
    testSupport("ExampleOrganization", ["HomeTypes"]),
    program("recording-writer", in: "Sources/Testing", ["PushAvStreamTransport", "RecordingFakes"]),
]
targets += table(
    """
    Testing/
        PacketFakes: RTP StreamFormats
        TURNFakes: Transport STUN TURN COpenSSL
        TLSFakes: COpenSSL
        StationFakes: Transport SDP RTP Codecs DatagramPort MediaRelay Intake Cameras Stations
        RecordingFakes: Codecs FragmentedMP4 PushAvStreamTransport Transport
        PeerFakes: Transport RTP ICE DTLS PeerConnection NetworkSimulator
        FuzzTargets: Transport SDP STUN TURN MulticastDNS PortMapping LocalNetwork RTP RTSP XML HTTPMedia ONVIF
            FragmentedMP4 StreamFormats PacketFakes ICE SRTP DTLS SCTP Codecs Cameras Signalling PushAvStreamTransport
            MQTTDevices AutomationGraph Automation HomeTypes
    Tests/
        TransportTests: Transport
        SDPTests: SDP Transport
        STUNTests: STUN Transport
        TURNTests: TURN TURNFakes STUN Transport
        MulticastDNSTests: MulticastDNS Transport
        PortMappingTests: PortMapping HTTPMedia Transport
        ICETests: ICE STUN TURN TURNFakes Transport NetworkSimulator
        RTPTests: RTP Transport
        FragmentedMP4Tests: FragmentedMP4 RTP Transport
        XMLTests: XML Transport
        HTTPMediaTests: HTTPMedia RTSP Codecs Transport
        StreamFormatsTests: StreamFormats FragmentedMP4 PacketFakes Transport
        ONVIFTests: ONVIF XML HTTPMedia RTSP Transport
        RTSPTests: RTSP Transport
        IntakeTests: Intake PacketFakes SDP RTP Transport
        BuiltInPicturesTests: BuiltInPictures Codecs
        CamerasTests: Cameras StationFakes Intake PacketFakes HTTPMedia StreamFormats ONVIF RTSP RTP SDP Codecs
            DatagramPort Transport
        CodecsTests: Codecs SDP RTP Transport
        DTLSTests: DTLS SRTP COpenSSL Transport HeapMeter
        TLSTests: TLS TLSFakes
        SRTPTests: SRTP CSRTP Transport
        PeerConnectionTests: PeerConnection PeerFakes ICE DTLS SRTP RTP STUN Transport NetworkSimulator HeapMeter SDP
        SCTPTests: SCTP Transport
        CongestionTests: Congestion Transport
        LocalNetworkTests: LocalNetwork DatagramPort HTTPMedia PortMapping Transport
        DataChannelsTests: DataChannels SCTP Transport
        DatagramPortTests: DatagramPort CLinuxUDP Transport
        MediaRelayTests: MediaRelay StationFakes PeerFakes PeerConnection Congestion ICE DTLS STUN TURN TURNFakes TLSFakes
            RTP SDP DatagramPort Transport NetworkSimulator
        StationsTests: Stations StationFakes MediaRelay Cameras Codecs DatagramPort SDP RTP RTSP Transport
        SignallingTests: Signalling Stations StationFakes PeerFakes MediaRelay Cameras Codecs PeerConnection
            DataChannels HomeTypes STUN ICE DTLS DatagramPort SDP RTP Transport
        RTSPServerTests: RTSPServer StationFakes RTSP RTP SDP FragmentedMP4 MediaRelay Intake Cameras Stations
            Signalling PushAvStreamTransport RecordingFakes DatagramPort Transport
        RTMPServerTests: RTMPServer Signalling Stations StationFakes PacketFakes StreamFormats Cameras MediaRelay DTLS
            DatagramPort SDP Transport
        PushAvStreamTransportTests: PushAvStreamTransport RecordingFakes recording-writer StationFakes FragmentedMP4
            HomeTypes MediaRelay Cameras Codecs DatagramPort DTLS Stations SDP RTP Transport
        HomeTypesTests: HomeTypes ExampleOrganization
        AutomationGraphTests: AutomationGraph HomeTypes Transport
        AutomationTests: Automation AutomationGraph HomeTypes
        MQTTDevicesTests: MQTTDevices HomeTypes Transport
        FuzzTargetsTests: FuzzTargets Transport
    """)

let gatewayFuzzTargets = table(
    """
    Testing/
        GatewayFuzzTargets: FuzzTargets CloudToCloud Gateway GatewayClient HomeTypes Migration SmartDeviceManagement
    """)

// Of floors 5 to 7 the fuzzer needs what reads YAML and JSON, and for that one package.
let packages: [Package.Dependency] =
    otherPackages
    .filter { !coreOnly || fuzzing && $0.name == "Yams" }
    .map { .package(url: "https://github.com/\($0.owner)/\($0.name)", from: $0.version) }

// The protocol stack, for other programs. `Transport` and `DatagramPort` hold the types that the others speak.
var products: [Product] = words(
    """
    Transport SDP STUN TURN RTP RTSP FragmentedMP4 ICE SRTP DTLS PeerConnection DatagramPort MediaRelay HomeTypes
    """
).map { .library(name: $0, targets: [$0]) }

if !coreOnly {
    products.append(.executable(name: "gatehouse", targets: ["gatehouse"]))
    products += ["HomeSDK", "GoogleHomeSDK", "GoogleHomeTypes"].map { .library(name: $0, targets: [$0]) }

    // Only in programs that measure themselves: it stands in front of the C library's allocation functions.
    targets.append(wrapper("CAllocationCounter"))

    targets += table(
        """
        // What needs SQLite: the files that the home and the index of the recordings share, and that index.
        System/
            SQLiteFiles: GRDB
        // Floor 4, with the packages that it needs.
        Services/
            RecordingIndex: PushAvStreamTransport SQLiteFiles GRDB
            RecordingUpload: PushAvStreamTransport DatagramPort Transport AsyncHTTPClient NIOCore NIOHTTP1 NIOHTTP2
                NIOPosix NIOSSL
        // Floor 5: the home.
        Home/
            HomeHub: HomeTypes Signalling Stations PushAvStreamTransport DatagramPort Transport SQLiteFiles GRDB
            SmartDeviceManagement: HomeHub HomeTypes
            CloudToCloud: HomeHub HomeTypes Transport
        // Floor 6: clients of a gateway. `HomeSDK` is the library that apps know, on Combine where there is one.
        Client/
            GatewayClient: HomeTypes Transport AsyncHTTPClient NIOCore NIOFoundationCompat NIOHTTP1 NIOPosix NIOSSL
            HomeSDK: AutomationGraph GatewayClient HomeTypes Transport OpenCombine
            GoogleHomeSDK: AutomationGraph HomeSDK HomeTypes OpenCombine OpenCombineDispatch OpenCombineFoundation
            GoogleHomeTypes: GoogleHomeSDK
            LiveViewClient: Transport SDP STUN RTP ICE DTLS PeerConnection DatagramPort HomeTypes AsyncHTTPClient
                NIOCore NIOFoundationCompat NIOHTTP1
        """)

    targets += [
        // The example of docs/swift-library.md. The package of the other examples is built without packages.
        program("home-watch", in: "docs/examples", ["GoogleHomeSDK", "GoogleHomeTypes"]),
        // `GATEHOUSE_COMMIT` names the commit that the program is built from.
        .target(
            name: "CCommit", path: "Sources/App/Commit",
            cSettings: Context.environment["GATEHOUSE_COMMIT"].map { [.define("GATEHOUSE_COMMIT", to: $0)] } ?? []),
        // The web page and the OpenAPI document are files, which C embeds in the program.
        .target(
            name: "CWebFiles", path: "Sources/App/WebFiles", exclude: ["page", "openapi.yaml"],
            sources: ["CWebFiles.c"]),
    ]
    targets += table(
        """
        // Floor 7: the process. `Migration` reads other gateways' configs, for people who move here.
        App/
            Gateway: Transport SDP STUN TURN Stations Signalling Cameras MediaRelay DatagramPort LocalNetwork
                PortMapping DTLS ICE HomeTypes HomeHub SmartDeviceManagement CloudToCloud MQTTDevices Automation
                AutomationGraph COpenSSL CZlib CFileStatus CMalloc CProgramPages CCommit CWebFiles RTSP RTSPServer
                RTMPServer HTTPMedia ONVIF FragmentedMP4 PushAvStreamTransport RecordingIndex RecordingUpload
                AsyncHTTPClient Hummingbird HummingbirdCore HummingbirdTLS HTTPTypes Logging ServiceLifecycle
                UnixSignals NIOConcurrencyHelpers NIOCore NIOHTTP1 NIOHTTPTypes NIOHTTPTypesHTTP1 NIOSSL NIOWebSocket
                Yams
            Migration: Yams RTSP
            Benchmarks: Transport SDP RTP ICE DTLS PeerConnection Congestion MediaRelay DatagramPort LiveViewClient
                HomeTypes HomeHub Automation AutomationGraph COpenSSL CLinuxUDP CAllocationCounter Cameras Intake
                Stations PushAvStreamTransport RecordingIndex SQLiteFiles GRDB
        """)
    targets += [
        program(
            "gatehouse", in: "Sources/App",
            words(
                """
                Gateway HomeHub CFileStatus GatewayClient LiveViewClient Benchmarks Migration Cameras Signalling ONVIF
                SDP STUN RTP HomeTypes Codecs DTLS DatagramPort FragmentedMP4 PushAvStreamTransport Transport
                ArgumentParser Hummingbird Yams
                """),
            // Short relocations, equal functions once, and none of its forty thousand symbols offered to libraries: the
            // process at rest is 5 MiB smaller. The linker comes with the toolchain.
            linkerSettings: [
                .unsafeFlags(
                    ["-use-ld=lld"]
                        + ["-z", "pack-relative-relocs", "--icf=safe", "--no-export-dynamic", "--gc-sections"]
                        .flatMap { ["-Xlinker", $0] },
                    .when(configuration: .release))
            ] + portableLinking),
        testSupport("HomeFakes", ["HomeHub", "HomeTypes", "SDP", "Stations", "Signalling"]),
        testSupport("GatewayProcess", ["Transport"]),
        // Records what a test hands it and uploads that, without cameras and without the rest of the gateway.
        program("upload-driver", in: "Sources/Testing", ["RecordingUpload", "PushAvStreamTransport", "Transport"]),
    ]
    targets += gatewayFuzzTargets
    targets += table(
        """
        Tests/
            GatewayFuzzTargetsTests: GatewayFuzzTargets FuzzTargets Transport
            RecordingIndexTests: RecordingIndex PushAvStreamTransport Transport GRDB
            HomeHubTests: HomeHub HomeTypes SDP Signalling Stations StationFakes PushAvStreamTransport HomeFakes Transport
                GRDB
            SmartDeviceManagementTests: SmartDeviceManagement HomeHub HomeTypes
            CloudToCloudTests: CloudToCloud ExampleOrganization HomeFakes HomeHub HomeTypes Transport
            MigrationTests: Migration Gateway HomeTypes Transport
            GatewayTests: Gateway Automation AutomationGraph CloudToCloud HomeHub HomeTypes MQTTDevices Stations
                StationFakes Signalling HomeFakes Cameras MediaRelay PushAvStreamTransport RecordingFakes
                RecordingUpload RTMPServer RTSP Codecs DatagramPort DTLS LocalNetwork HTTPMedia ONVIF PortMapping SDP
                SmartDeviceManagement STUN TURN Transport Hummingbird HummingbirdTesting HTTPTypes Logging NIOCore NIOEmbedded NIOHTTP1
                NIOHTTPTypes NIOPosix ServiceLifecycle
            GatewayClientTests: GatewayClient HomeTypes Transport TLSFakes AsyncHTTPClient NIOCore NIOHTTP1 NIOPosix NIOSSL
            HomeSDKTests: HomeSDK AutomationGraph GatewayClient GatewayProcess HomeTypes ExampleOrganization Transport
                OpenCombine StationFakes
            LiveViewClientTests: LiveViewClient HomeTypes Transport SDP RTP ICE DTLS PeerConnection DatagramPort
            RecordingUploadTests: RecordingUpload PushAvStreamTransport Transport
        """)
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
    // The rest of the gateway, which needs all packages, is left out.
    if coreOnly {
        targets += [
            part(
                of: "App/Gateway",
                words("CFileStatus Cameras DatagramPort HomeTypes HTTPMedia RTSP STUN Transport Yams"),
                sources: words(
                    """
                    CameraAddress ConfigurationDraft ConfigurationError ConfigurationLoader+Automations
                    ConfigurationLoader+Cameras ConfigurationLoader+CloudToCloud ConfigurationLoader+Devices
                    ConfigurationLoader+History ConfigurationLoader+Information ConfigurationLoader+MQTT
                    ConfigurationLoader+OAuth ConfigurationLoader+Ports ConfigurationLoader+Push
                    ConfigurationLoader+Recording ConfigurationTexts EnvironmentReferences GatewayConfiguration
                    GatewayConfiguration+Automations GatewayConfiguration+Camera GatewayConfiguration+CloudToCloud
                    GatewayConfiguration+Device GatewayConfiguration+MQTT GatewayConfiguration+Network
                    GatewayConfiguration+OAuth GatewayConfiguration+YAML RegularFile Reload/CameraEntry
                    Reload/CameraEntry+Written Reload/GatewayConfiguration+Entry YAMLReader
                    """
                ).map { "Configuration/\($0).swift" } + ["Security/OriginPolicy.swift"]),
            part(of: "Home/CloudToCloud", ["HomeTypes", "Transport"], exclude: ["CloudFulfilment.swift"]),
            part(
                of: "Home/SmartDeviceManagement", ["HomeTypes"],
                sources: ["SDMCommand.swift", "SDMSubscription.swift"]),
            part(
                of: "Client/GatewayClient", ["HomeTypes"], sources: ["EventStreamReader.swift", "GatewayEvent.swift"]),
            part(of: "App/Migration", ["Yams", "RTSP"]),
        ]
        targets += gatewayFuzzTargets
    }
    targets.append(
        program(
            "fuzz", in: "Sources/Testing", ["FuzzTargets", "GatewayFuzzTargets"],
            settings: [.unsafeFlags(["-parse-as-library"])],
            // The fuzzer's own runtime. Its `main` is not used: the program has one that chooses the target. The default
            // linker, gold, stops with an internal error when it puts this program together.
            linkerSettings: [.unsafeFlags(["-sanitize=fuzzer", "-use-ld=lld"])]))
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
