import Foundation

/// Identifies a version of a file without reading it.
struct FileStamp: Equatable, Sendable {
    private let number: Int
    private let size: Int
    private let modified: Date

    /// The stamp of a file, with links followed; nil if there is none.
    init?(path: String) {
        let target = URL(fileURLWithPath: path).resolvingSymlinksInPath().path
        guard let attributes = try? FileManager.default.attributesOfItem(atPath: target),
            let modified = attributes[.modificationDate] as? Date
        else { return nil }
        self.number = attributes[.systemFileNumber] as? Int ?? 0
        self.size = attributes[.size] as? Int ?? 0
        self.modified = modified
    }
}
