/// A multivariant playlist of HTTP Live Streaming (RFC 8216, section 4.3.4): which media playlists belong together.
public struct HLSMultivariantPlaylist: Equatable, Sendable {
    /// A choice of pictures, or of sound where there are no pictures (`EXT-X-STREAM-INF`, section 4.3.4.2).
    public struct Variant: Equatable, Sendable {
        /// Where its media playlist is.
        public var uri: String
        /// The highest rate of it and of its sound, in bits per second.
        public var bandwidth: Int
        /// The codecs of it and of its sound, as in RFC 6381.
        public var codecs: [String]
        /// Width and height in pixels; nil for sound.
        public var resolution: (width: Int, height: Int)?
        /// The group of its sound; nil when it has none.
        public var audioGroup: String?

        /// Describes a variant.
        public init(
            uri: String, bandwidth: Int, codecs: [String], resolution: (width: Int, height: Int)? = nil,
            audioGroup: String? = nil
        ) {
            self.uri = uri
            self.bandwidth = bandwidth
            self.codecs = codecs
            self.resolution = resolution
            self.audioGroup = audioGroup
        }

        public static func == (left: Variant, right: Variant) -> Bool {
            left.uri == right.uri && left.bandwidth == right.bandwidth && left.codecs == right.codecs
                && left.audioGroup == right.audioGroup && left.resolution?.width == right.resolution?.width
                && left.resolution?.height == right.resolution?.height
        }
    }

    /// Sound for the variants of its group (`EXT-X-MEDIA`, section 4.3.4.1).
    public struct Rendition: Equatable, Sendable {
        /// Its group.
        public var group: String
        /// Its name, for people.
        public var name: String
        /// Where its media playlist is.
        public var uri: String
        /// Whether it plays unless the viewer chooses another. One of a group should.
        public var isDefault: Bool

        /// Describes a rendition.
        public init(group: String, name: String, uri: String, isDefault: Bool) {
            self.group = group
            self.name = name
            self.uri = uri
            self.isDefault = isDefault
        }
    }

    /// The variants, the preferred one first.
    public var variants: [Variant]
    /// The sound that they refer to.
    public var renditions: [Rendition]

    /// Describes a playlist.
    public init(variants: [Variant], renditions: [Rendition] = []) {
        self.variants = variants
        self.renditions = renditions
    }

    /// The playlist, to be served as UTF-8 with ``HLSMediaPlaylist/contentType``.
    public var text: String {
        // Each segment begins with a key frame (section 4.3.5.1).
        var text = "#EXTM3U\n#EXT-X-VERSION:7\n#EXT-X-INDEPENDENT-SEGMENTS\n"
        for rendition in renditions {
            text += "#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID=\(ManifestText.quoted(rendition.group)),"
            text += "NAME=\(ManifestText.quoted(rendition.name)),DEFAULT=\(rendition.isDefault ? "YES" : "NO"),"
            text += "AUTOSELECT=YES,URI=\(ManifestText.quoted(rendition.uri))\n"
        }
        for variant in variants {
            text += "#EXT-X-STREAM-INF:BANDWIDTH=\(max(1, variant.bandwidth))"
            if !variant.codecs.isEmpty {
                text += ",CODECS=\(ManifestText.quoted(variant.codecs.joined(separator: ",")))"
            }
            if let resolution = variant.resolution { text += ",RESOLUTION=\(resolution.width)x\(resolution.height)" }
            if let group = variant.audioGroup { text += ",AUDIO=\(ManifestText.quoted(group))" }
            text += "\n\(ManifestText.line(variant.uri))\n"
        }
        return text
    }
}
