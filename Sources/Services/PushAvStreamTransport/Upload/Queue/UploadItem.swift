import FragmentedMP4

/// One object of a session on the receiver's side.
public enum UploadItem: Codable, Hashable, Sendable {
    /// The manifest that precedes everything: the dynamic DASH manifest, or the multivariant HLS playlist.
    case manifest
    /// The HLS media playlist of a track before its first segment.
    case playlist(track: Int)
    /// The CMAF header of a track.
    case initialization(track: Int)
    /// A segment.
    case segment(track: Int, number: UInt32)
    /// The complete HLS media playlist of a track.
    case finalPlaylist(track: Int)
    /// The complete DASH manifest, which ends the session.
    case finalManifest
}

extension UploadItem {
    /// What is uploaded before the first segment, in this order.
    static func head(of session: UploadSession) -> [UploadItem] {
        switch session.destination.interface {
        case .interface1: session.tracks.indices.map { .initialization(track: $0) }
        case .dash: [.manifest] + session.tracks.indices.map { .initialization(track: $0) }
        case .hls: [.manifest] + session.tracks.indices.flatMap { [.playlist(track: $0), .initialization(track: $0)] }
        }
    }

    /// What is uploaded after the last segment, in this order.
    static func tail(of session: UploadSession) -> [UploadItem] {
        switch session.destination.interface {
        case .interface1: []
        case .dash: [.finalManifest]
        case .hls: session.tracks.indices.map { .finalPlaylist(track: $0) }
        }
    }

    /// The first segment's number in names. Recordings start with 1.
    static let firstSegmentNumber = 1_001

    /// The object's path below the destination's address.
    func path(in session: UploadSession) -> String {
        let folder = "session_\(session.number)/"
        switch self {
        case .manifest, .finalManifest:
            return folder + (session.destination.interface == .hls ? "index.m3u8" : "index.mpd")
        case .playlist(let track), .finalPlaylist(let track):
            return folder + "\(session.name(of: track))/index.m3u8"
        case .initialization(let track):
            return folder + "\(session.name(of: track))/\(session.name(of: track)).init"
        case .segment(let track, let number):
            return folder + "\(session.name(of: track))/\(Self.segmentName(number))"
        }
    }

    /// The name of a segment: at least four digits, from 1001.
    static func segmentName(_ number: UInt32) -> String {
        // Numbers are from 1001, so four digits come by themselves.
        "segment_\(Int(number) + firstSegmentNumber - 1).m4s"
    }

    /// The media type with which it is uploaded.
    func contentType(in session: UploadSession) -> String {
        switch self {
        case .manifest, .finalManifest:
            session.destination.interface == .hls ? HLSMediaPlaylist.contentType : DASHManifest.contentType
        case .playlist, .finalPlaylist: HLSMediaPlaylist.contentType
        case .initialization: "video/mp4"
        case .segment: "video/iso.segment"
        }
    }

    /// The file of the recording that holds it; nil for manifests, which are made when they are needed.
    func fileName(in session: UploadSession) -> String? {
        switch self {
        case .initialization(let track): "\(session.name(of: track)).init"
        case .segment(let track, let number): RecordingLayout.segmentName(number, of: session.name(of: track))
        case .manifest, .playlist, .finalPlaylist, .finalManifest: nil
        }
    }
}

extension UploadSession {
    /// A track's name, safe as one component of a path: a connection's track names come from its owner.
    func name(of track: Int) -> String {
        guard tracks.indices.contains(track) else { return "track" }
        return Self.pathComponent(tracks[track].name)
    }

    /// A name as one component of a path: letters, digits, `-`, `_` and dots that are not alone; everything else is
    /// replaced.
    static func pathComponent(_ name: String) -> String {
        let safe = String(
            decoding: name.utf8.map { byte -> UInt8 in
                switch byte {
                case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F: byte
                default: 0x5F
                }
            }, as: UTF8.self)
        return safe.isEmpty || safe.utf8.allSatisfy({ $0 == 0x2E }) ? "track" : safe
    }
}
