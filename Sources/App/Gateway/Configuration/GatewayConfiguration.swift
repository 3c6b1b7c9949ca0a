import HomeTypes

/// The settings of the config file, checked, with every default filled in.
public struct GatewayConfiguration: Sendable, Equatable {
    /// The HTTP and HTTPS listeners.
    public var http = HTTP()
    /// The UDP port of all live views.
    public var media = Media()
    /// How viewers on other networks reach the gateway.
    public var network = Network()
    /// Where the token, certificates and keys are kept; nil for the user's own default.
    public var stateDirectory: String?
    /// The lease of a live view and how many there may be.
    public var sessions = Sessions()
    public var events = Events()
    /// The settings of the log.
    public var log = Log()
    /// The RTSP server that hands the cameras on, or nil when it is off.
    public var rtsp: RTSPServer?
    /// The RTMP server that takes what encoders and cameras publish, or nil when it is off.
    public var rtmp: RTMPServer?
    /// Whether the part of go2rtc's API is offered that Home Assistant uses.
    public var offersGo2RTC = false
    /// What is recorded, or nil when nothing is.
    public var recording: Recording?
    /// How much of what happened is kept, or nil when nothing is.
    public var history: History? = History()
    /// Notifications of browsers; nil for none.
    public var push: Push? = Push()
    /// The automations of the home.
    public var automations = Automations()
    /// The programs that people may link to their accounts.
    public var oauthClients: [OAuthClient] = []
    /// Where changes are reported to for linked accounts, or nil when the cloud has to ask.
    public var reportState: ReportState?
    /// The MQTT broker, or nil without one.
    public var mqtt: MQTT?
    /// The cameras, in the order in which people see them.
    public var cameras: [Camera] = []
    /// The cameras of the file as they are written there, by their ids. They may hold passwords: never print them.
    var cameraEntries: [String: CameraEntry] = [:]
    /// The virtual devices, in the order in which people see them.
    public var devices: [Device] = []

    /// The defaults: loopback only, no camera.
    public init() {}
}

extension GatewayConfiguration {
    /// The HTTP and HTTPS listeners.
    public struct HTTP: Sendable, Equatable {
        /// The address of both listeners; loopback unless the config says otherwise.
        public var host = "127.0.0.1"
        /// The port of plain HTTP.
        public var port = 8080
        /// HTTPS, or nil when it is switched off.
        public var https: HTTPS? = HTTPS()
        /// Where clients reach the gateway through a proxy, for example `https://home.example`; nil without one.
        public var publicURL: String?
        /// Web origins other than the gateway's own whose pages may use the API, for example `https://home.example`.
        public var origins: [String] = []
        /// Who may show a camera's page in a frame, as sources of a content security policy; nobody if empty.
        public var frameAncestors: [String] = []

        /// The defaults.
        public init() {}
    }

    /// The HTTPS listener.
    public struct HTTPS: Sendable, Equatable {
        /// The port.
        public var port = 8443
        /// The host, or nil for the one of plain HTTP.
        public var host: String?
        /// PEM files of a certificate chain and its key; nil for a certificate that the gateway makes by itself.
        public var files: CertificateFiles?

        /// The defaults.
        public init() {}
    }

    /// PEM files of a certificate.
    public struct CertificateFiles: Sendable, Equatable {
        /// The chain, leaf first.
        public var certificate: String
        /// The leaf's private key.
        public var privateKey: String

        /// Names the two files.
        public init(certificate: String, privateKey: String) {
            self.certificate = certificate
            self.privateKey = privateKey
        }
    }

    /// The UDP port of all live views.
    public struct Media: Sendable, Equatable {
        /// The port.
        public var port = 8189
        /// Addresses to offer in addition to those of the host's interfaces, for example the public one of a forwarded
        /// port.
        public var addresses: [String] = []
        /// STUN and TURN servers for viewers to use.
        public var iceServers: [ICEServer] = []
        /// How many threads send media; nil for one on each processor core.
        public var shards: Int?

        /// The defaults.
        public init() {}
    }

    /// A STUN or TURN server that viewers may use.
    public struct ICEServer: Sendable, Equatable {
        /// For example `stun:stun.example.org:3478`.
        public var url: String
        /// The name for TURN.
        public var username: String?
        /// The password for TURN.
        public var credential: String?

        /// Names a server.
        public init(url: String, username: String? = nil, credential: String? = nil) {
            self.url = url
            self.username = username
            self.credential = credential
        }
    }

    /// The lease of a live view and how many there may be.
    public struct Sessions: Sendable, Equatable {
        /// Seconds until a session ends unless it is extended.
        public var durationSeconds = 300
        /// Seconds after which a session ends even if it was extended.
        public var maximumDurationSeconds = 14_400
        /// Sessions that one camera may have at once.
        public var perCamera = 32
        /// Sessions that one principal may have at once.
        public var perPrincipal = 64

        /// The defaults.
        public init() {}
    }

    /// The event stream of the HTTP API.
    public struct Events: Sendable, Equatable {
        /// How many watchers may be connected at once. Principals share them (``PlaceShares``).
        public var watchers = 2_048
        /// How much room the log of changes may take on the disk, in mebibytes.
        public var megabytes = 256

        /// The defaults.
        public init() {}
    }

    /// The RTSP server that hands the cameras on to other programs.
    public struct RTSPServer: Sendable, Equatable {
        /// The address to listen on; loopback unless the config says otherwise.
        public var host = "127.0.0.1"
        /// The TCP port.
        public var port = 8554

        /// The defaults.
        public init() {}
    }

    /// The RTMP server that takes what encoders and cameras publish.
    public struct RTMPServer: Sendable, Equatable {
        /// The address to listen on; loopback unless the config says otherwise.
        public var host = "127.0.0.1"
        /// The TCP port.
        public var port = 1935

        /// The defaults.
        public init() {}
    }

    /// What is recorded, and how long it is kept.
    public struct Recording: Sendable, Equatable {
        /// What can differ from camera to camera.
        public struct Rules: Sendable, Equatable {
            /// What begins a recording.
            public var trigger = Google.PushAvStreamTransportTrait.TransportTriggerTypeEnum.motion
            /// How many seconds before its trigger a recording begins.
            public var preRollSeconds = 4
            /// How many days recordings are kept; nil for as long as there is room.
            public var days: Int? = 14
            /// How many gigabytes the recordings of one camera may take; nil for no limit of its own.
            public var gigabytes: Int?

            /// The defaults.
            public init() {}
        }

        /// Where recordings are kept; nil for the folder `recordings` in the state folder.
        public var folder: String?
        /// The rules of cameras that have none of their own.
        public var rules = Rules()
        /// How many gigabytes all recordings may take; nil for no limit.
        public var totalGigabytes: Int?
        /// The most footage that waits for its upload, in gigabytes; nil for the usual 8 GiB.
        public var uploadGigabytes: Int?
        /// How many gigabytes stay free on the disk.
        public var freeGigabytes = 2
        /// The rules of single cameras, by their identifiers.
        public var cameras: [String: Rules] = [:]

        /// The defaults.
        public init() {}

        /// The rules of a camera.
        public func rules(of camera: String) -> Rules { cameras[camera] ?? rules }

        /// The identifiers that have rules of their own although no camera has them, sorted.
        func rulesWithoutCamera(among ids: Set<String>) -> [String] {
            cameras.keys.filter { !ids.contains($0) }.sorted()
        }
    }

    /// How much of what happened in the home is kept.
    public struct History: Sendable, Equatable {
        /// How many days.
        public var days = 30
        /// How many megabytes the file may take.
        public var megabytes = 256

        /// The defaults.
        public init() {}
    }

    /// Notifications of browsers (Web Push).
    public struct Push: Sendable, Equatable {
        /// The origins of push services that may be in a private network, or have another port than 443.
        public var services: [String] = []
        /// A PEM file with the authorities that those are trusted by; nil for those of the system.
        public var authorities: String?

        /// The defaults.
        public init() {}
    }

    /// The settings of the log.
    public struct Log: Sendable, Equatable {
        /// The form of a line.
        public enum Format: String, Sendable, CaseIterable {
            /// `key=value` pairs for people.
            case text
            /// One JSON object per line, for log collectors.
            case json
        }

        /// The lowest level that is written: trace, debug, info, notice, warning, error or critical.
        public var level = "info"
        /// The form of a line.
        public var format = Format.text
        /// Whether the addresses of other hosts appear; they are masked by default.
        public var showsAddresses = false

        /// The defaults.
        public init() {}
    }

    /// The config of a gateway that is started without one: the built-in doorbell.
    public static var demonstration: GatewayConfiguration {
        var configuration = GatewayConfiguration()
        configuration.cameras = [
            Camera(id: "front-door", name: "Front door", kind: .doorbell, source: .builtInDoorbell)
        ]
        return configuration
    }
}
