import Foundation

/// `session.json`: the description of a session, with the version of its format. The initialization segments are in
/// files of their own.
struct SessionFile: Codable {
    /// The version that this program writes. A program that finds a higher one leaves the session as it is.
    static let currentVersion = 1
    static let maximumLength = 1 << 20

    var version: Int
    var session: RecordingSession

    /// The bytes of the file.
    static func encode(_ session: RecordingSession) -> [UInt8] {
        var session = session
        for index in session.tracks.indices { session.tracks[index].initializationSegment = Data() }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        // These types always encode: they hold no floating point numbers.
        let json = (try? encoder.encode(SessionFile(version: Self.currentVersion, session: session))) ?? Data()
        return Array(json) + [0x0A]
    }

    /// Reads the file of the session that its folder names.
    static func decode(
        _ bytes: [UInt8], of id: RecordingSession.ID, path: String
    ) throws(UnreadableRecording) -> RecordingSession {
        struct Version: Decodable { var version: Int }
        let data = Data(bytes)
        let decoder = JSONDecoder()
        guard let version = try? decoder.decode(Version.self, from: data).version else {
            throw UnreadableRecording(path: path, reason: .damagedSession)
        }
        guard version <= Self.currentVersion else {
            throw UnreadableRecording(path: path, reason: .newerFormat(version))
        }
        guard let session = try? decoder.decode(SessionFile.self, from: data).session, version > 0 else {
            throw UnreadableRecording(path: path, reason: .damagedSession)
        }
        guard session.id == id else {
            throw UnreadableRecording(path: path, reason: .foreignSession)
        }
        if let problem = session.layoutProblem {
            throw UnreadableRecording(path: path, reason: .unusableSession(problem))
        }
        return session
    }
}

extension RecordingSession {
    /// What keeps the session from having names on disk; nil if nothing does.
    var layoutProblem: RecordingLayoutProblem? {
        guard RecordingLayout.isSafe(device: id.device) else { return .deviceName }
        guard RecordingLayout.times.contains(id.start) else { return .start }
        guard (1...16).contains(tracks.count) else { return .trackCount }
        for (index, track) in tracks.enumerated() {
            guard RecordingLayout.isSafe(track: track.name) else { return .trackName(index) }
            guard (1...1_000_000_000).contains(track.timescale) else { return .timescale(index) }
        }
        // A case-insensitive file system would make one file of two.
        guard Set(tracks.map { $0.name.lowercased() }).count == tracks.count else { return .repeatedTrackName }
        return nil
    }
}
