/// A config for Gatehouse that was made from another gateway's config, and what could not be taken over.
public struct ImportedConfiguration: Equatable, Sendable {
    /// A camera, with the keys of the section `cameras` (docs/configuration.md).
    public struct Camera: Equatable, Sendable {
        /// Its key; valid and used once.
        public var id: String
        /// What people read.
        public var name: String
        /// Whether it has a button, according to its name.
        public var isDoorbell = false
        /// An RTSP or ONVIF URL, or `publisher`.
        public var source: String
        /// The RTSP URL of a smaller stream.
        public var substream: String?
        /// `tcp`, `udp` or `http`; nil for `auto`.
        public var transport: String?
        /// Whether it is pulled only while somebody watches.
        public var isPulledOnDemand = false
        /// Whether nobody may talk to it.
        public var isSilent = false
        /// Its ONVIF service, for its events.
        public var onvif: ONVIFDevice?
        /// How it is recorded; nil for not at all.
        public var recording: Recording?
    }

    /// An ONVIF service and the login for it.
    public struct ONVIFDevice: Equatable, Sendable {
        /// The address of the device service.
        public var url: String
        /// The user's name.
        public var username: String?
        /// The password; `${NAME}` stands for a variable of the environment.
        public var password: String?
    }

    /// How a camera is recorded.
    public struct Recording: Equatable, Sendable {
        /// `motion` or `continuous`.
        public var trigger: String
        /// For how long recordings are kept; nil for the default.
        public var days: Int?

        /// Describes how a camera is recorded.
        public init(trigger: String, days: Int? = nil) {
            self.trigger = trigger
            self.days = days
        }
    }

    /// A STUN or TURN server for viewers.
    public struct ICEServer: Equatable, Sendable {
        /// Its address: `stun:`, `stuns:`, `turn:` or `turns:`.
        public var url: String
        /// The user's name on a TURN server.
        public var username: String?
        /// The password on a TURN server.
        public var credential: String?

        /// Describes a server.
        public init(url: String, username: String? = nil, credential: String? = nil) {
            self.url = url
            self.username = username
            self.credential = credential
        }
    }

    /// The broker.
    public struct MQTT: Equatable, Sendable {
        /// Its name or address.
        public var host: String
        /// Its TCP port; nil for the usual one.
        public var port: Int?
        /// Whether the connection is encrypted.
        public var isEncrypted = false
        /// A file with the authorities to trust instead of the system's.
        public var authorities: String?
        /// The user's name.
        public var username: String?
        /// The password; `${NAME}` stands for a variable of the environment.
        public var password: String?
    }

    /// Something that was not taken over as it was, or that the owner should know.
    public struct Remark: Hashable, Sendable {
        /// The line in the file that was read, from 1; 0 for the file as a whole.
        public var line: Int
        /// The path of keys, as in `streams.yard`.
        public var key: String
        /// What is different now, and what to do. It never repeats a value, which may hold a password.
        public var text: String
    }

    /// Whether other devices may open the page, over HTTPS.
    public var isOpen = false
    /// The cameras, in the order of the file.
    public var cameras: [Camera] = []
    /// The UDP port of live views; nil for the default.
    public var mediaPort: Int?
    /// Addresses to offer beside those of the machine.
    public var mediaAddresses: [String] = []
    /// STUN and TURN servers for viewers.
    public var iceServers: [ICEServer] = []
    /// STUN servers that the gateway itself asks at which address they see it.
    public var stunServers: [String] = []
    /// The TCP port at which other programs read the cameras over RTSP; nil for none.
    public var rtspPort: Int?
    /// The TCP port at which other programs publish by RTMP; nil for none.
    public var rtmpPort: Int?
    /// Whether the gateway answers what Home Assistant asks of go2rtc.
    public var offersGo2RTC = false
    /// The broker; nil for none.
    public var mqtt: MQTT?
    /// What could not be taken over, by line.
    public var remarks: [Remark] = []
}

extension ImportedConfiguration {
    /// The variables of the environment that the config names as `${NAME}`, in alphabetical order.
    public var variables: [String] {
        let ofCameras = cameras.flatMap { camera -> [String?] in
            [camera.source, camera.substream, camera.onvif?.url, camera.onvif?.username, camera.onvif?.password]
        }
        let texts: [String] = (ofCameras + [mqtt?.username, mqtt?.password]).compactMap(\.self)
        // `$${` is a literal `${`.
        let names = texts.flatMap { text in
            text.matches(of: /(\$?)\$\{([A-Za-z_][A-Za-z0-9_]*)\}/).filter { $0.1.isEmpty }.map { String($0.2) }
        }
        return Set(names).sorted()
    }
}
