import Cameras
import HomeTypes

extension GatewayConfiguration {
    /// One camera.
    public struct Camera: Sendable, Equatable {
        /// What the URL of a source can begin with.
        public static let schemes = ["rtsp", "rtsps", "onvif", "http", "https"] + StreamAddress.schemes

        /// Which URLs a source can be, in the words of a message.
        public static var urlWords: String {
            let whole = schemes.filter { !$0.contains("+") }.map { "\($0)://" }
            var kinds: [String] = []
            for scheme in schemes where scheme.contains("+") {
                let kind = "\(scheme.prefix { $0 != "+" })+"
                if !kinds.contains(kind) { kinds.append(kind) }
            }
            return "an \(choice(whole)) URL, with \(choice(kinds)) before http:// or https:// if the path does not say "
                + "what comes"
        }

        /// Words as a choice: "a, b or c".
        private static func choice(_ words: [String]) -> String {
            guard let last = words.last, words.count > 1 else { return words.first ?? "" }
            return "\(words.dropLast().joined(separator: ", ")) or \(last)"
        }

        /// Where the pictures come from.
        public enum Source: Sendable, Equatable {
            /// The built-in doorbell with its test picture.
            case builtInDoorbell
            /// The built-in camera with only a picture: no sound, button or speaker.
            case builtInSilent
            /// An `rtsp://` or `rtsps://` URL, which may hold a password: never print it.
            case rtsp(String)
            /// `onvif://user:password@host:port`: the device is asked for its RTSP URLs and its events. Never print it.
            case onvif(String)
            /// An `http://` or `https://` URL of JPEG pictures, which may hold a password: never print it.
            case pictures(String)
            /// The address of a stream that is not RTP (docs/stream-cameras.md), which may hold a password: never print it.
            case stream(String)
            /// A camera of this machine, for example `v4l2:/dev/video0`.
            case videoDevice(String)
            /// A program publishes its media by WHIP, RTSP or RTMP.
            case publisher
        }

        /// How RTP travels from an RTSP camera.
        public enum Transport: String, Sendable, CaseIterable {
            /// TCP, unless the camera's profile says that another transport works better.
            case automatic = "auto"
            /// Interleaved with RTSP on its TCP connection (RFC 2326, section 10.12).
            case tcp
            /// UDP with RTCP.
            case udp
            /// RTSP inside HTTP.
            case http
        }

        /// How an RTSP session is kept from timing out.
        public enum KeepAlive: String, Sendable, CaseIterable {
            /// The first one that the camera accepts and survives.
            case automatic = "auto"
            case getParameter = "get-parameter"
            case setParameter = "set-parameter"
            case options
            /// Only receiver reports.
            case rtcp
            case none
        }

        /// When the camera is pulled.
        public enum Pull: String, Sendable, CaseIterable {
            case always
            /// While somebody watches.
            case onDemand = "on-demand"
        }

        /// Whether it is pulled while it is switched off or private too. What it sends meanwhile goes nowhere.
        public var pullsWhileOff = false
        /// Whether viewers may talk through the camera's speaker.
        public enum Talkback: String, Sendable, CaseIterable {
            /// Where the camera has a speaker that can be reached.
            case automatic = "auto"
            case off
        }

        /// Whether video that a viewer cannot play is transcoded to VP8.
        public enum TranscodeVideo: String, Sendable, CaseIterable {
            /// When a viewer can play none of the camera's streams, as far as the processor has room for it.
            case automatic = "auto"
            /// The same, without regard to the processor; written `true` or `always`.
            case always
            /// Never; written `false` or `never`.
            case never
        }

        /// The ONVIF service of the camera, for its events.
        public struct ONVIFDevice: Sendable, Equatable {
            /// The device service, an `http://` or `https://` URL.
            public var url: String
            /// The user name, or nil for a device that asks for none.
            public var username: String?
            /// Never print it.
            public var password: String?

            /// Names a device service.
            public init(url: String, username: String? = nil, password: String? = nil) {
                self.url = url
                self.username = username
                self.password = password
            }
        }

        /// The key in the config: 1 to 64 letters, digits, `.`, `_` and `-`.
        public var id: String
        /// The identifier of the device, which the home mints; the key until the home has said it.
        public var deviceID: String
        /// The key that the camera had before; nil if it was not renamed.
        public var formerly: String?
        /// The name that people read.
        public var name: String
        /// The kind of device that the home shows.
        public var kind: DeviceKind
        /// Where the pictures come from.
        public var source: Source
        /// The RTSP URL of a smaller stream of the same camera, which may hold a password: never print it. Or
        /// ``substreamOfDevice`` or ``noSubstream``. Nil for the default of the source: ``substreamOfDevice`` for a camera
        /// that is asked by ONVIF, and none for others.
        public var substream: String?
        /// Replaces a substream's URL: the camera names the URL by ONVIF, if it has a second stream.
        public static let substreamOfDevice = "onvif"
        /// Replaces a substream's URL: only one stream of the camera is pulled.
        public static let noSubstream = "none"
        /// How RTP travels.
        public var transport = Transport.automatic
        /// How the RTSP session is kept alive.
        public var keepAlive = KeepAlive.automatic
        /// How many pictures per second are taken of a camera that sends JPEG, 0.1 to 30; nil for the source's choice.
        public var framesPerSecond: Double?
        /// When the camera is pulled.
        public var pull = Pull.always
        /// Whether it runs on a battery: nothing wakes it up that nobody asked for.
        public var isOnBattery = false
        /// Whether viewers may talk through its speaker.
        public var talkback = Talkback.automatic
        /// Whether pictures that a viewer cannot play are transcoded to VP8, which costs processor time.
        public var transcodesVideo = TranscodeVideo.automatic
        /// The ONVIF service that sends its events, or nil if there is none.
        public var onvif: ONVIFDevice?
        /// Whether `POST /v1/devices/{id}/events` accepts events with the device's own webhook token.
        public var acceptsWebhook = false

        /// What its owner knows about it. It takes precedence over what the camera reports.
        public var information = Matter.BasicInformationTrait.Attributes()

        /// Whether the camera is asked for the URL of its smaller stream.
        public var asksForSubstream: Bool {
            if let substream { return substream == Self.substreamOfDevice }
            if case .onvif = source { return true }
            return false
        }

        /// The URL of the smaller stream, if the config has one. It may hold a password: never print it.
        public var substreamURL: String? {
            guard let substream, substream != Self.substreamOfDevice, substream != Self.noSubstream else { return nil }
            return substream
        }

        /// Describes a camera with the defaults of all optional settings.
        public init(id: String, name: String, kind: DeviceKind, source: Source) {
            self.id = id
            deviceID = id
            self.name = name
            self.kind = kind
            self.source = source
        }
    }
}
