import Foundation

/// The session descriptions under `sdp-samples/`, found from the place of this file.
enum SampleFiles {
    private static let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().appending(path: "sdp-samples")

    /// The bytes of every file in a sub-folder, in the order of their names; none if the sources are not there.
    static func all(in name: String) -> [[UInt8]] {
        let place = folder.appending(path: name)
        let files = (try? FileManager.default.contentsOfDirectory(atPath: place.path)) ?? []
        return files.filter { $0.hasSuffix(".sdp") || $0.hasSuffix(".sdpfrag") }.sorted().compactMap { file in
            (try? Data(contentsOf: place.appending(path: file))).map { Array($0) }
        }
    }
}
