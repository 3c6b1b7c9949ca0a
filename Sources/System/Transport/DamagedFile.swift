import Glibc

/// Renames files that cannot be used, so that nothing overwrites what is in them.
package enum DamagedFile {
    /// Why a file was not renamed.
    package enum Fault: Error, Equatable, Sendable {
        /// The system refused, with this `errno`.
        case system(Int32)
        /// As many as may be kept are kept already.
        case tooMany
    }

    /// Appends `.damaged-N` to the name of a file, with the first number that is free.
    /// - Parameter most: how many are kept of one name.
    /// - Returns: what was appended.
    package static func setAside(_ path: String, keepingAtMost most: Int) throws(Fault) -> String {
        for number in 1...max(1, most) {
            let suffix = ".damaged-\(number)"
            guard access(path + suffix, F_OK) != 0 else { continue }
            guard rename(path, path + suffix) == 0 else { throw .system(errno) }
            return suffix
        }
        throw .tooMany
    }
}
