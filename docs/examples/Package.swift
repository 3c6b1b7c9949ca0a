// swift-tools-version: 6.1
import PackageDescription

// Programs on Gatehouse's library products, as a package of their own: `swift run --package-path docs/examples`.
let gatehouse = "gatehouse"
func product(_ name: String) -> Target.Dependency { .product(name: name, package: gatehouse) }
let settings: [SwiftSetting] = [.swiftLanguageMode(.v6)]

let package = Package(
    name: "examples",
    dependencies: [.package(name: gatehouse, path: "../..")],
    targets: [
        .executableTarget(
            name: "rtsp-to-mp4",
            dependencies: [
                product("DatagramPort"), product("FragmentedMP4"), product("RTP"), product("RTSP"), product("SDP"),
                product("Transport"),
            ],
            path: "rtsp-to-mp4", swiftSettings: settings),
        .executableTarget(
            name: "srtp-listener",
            dependencies: [
                product("DatagramPort"), product("MediaRelay"), product("RTP"), product("SDP"), product("SRTP"),
                product("STUN"), product("Transport"),
            ],
            path: "srtp-listener", swiftSettings: settings),
        .executableTarget(
            name: "whep-player",
            dependencies: [
                product("DTLS"), product("DatagramPort"), product("ICE"), product("PeerConnection"), product("RTP"),
                product("SDP"), product("Transport"),
            ],
            path: "whep-player", swiftSettings: settings),
    ])
