/// Everything that is wrong with a config file, each with its line and key.
public struct ConfigurationError: Error, Equatable, Sendable, CustomStringConvertible {
    /// One thing that is wrong.
    public struct Problem: Equatable, Sendable, CustomStringConvertible {
        /// The line, from 1; 0 when it concerns the whole file.
        public var line: Int
        /// The path of keys, for example `cameras[1].source`; empty when it concerns the whole file.
        public var key: String
        /// What is wrong and what would be right.
        public var reason: String

        public var description: String {
            let place = line > 0 ? "line \(line): " : ""
            return place + (key.isEmpty ? reason : "\(key): \(reason)")
        }
    }

    /// The file's name as it was given.
    public var file: String
    /// The problems in the order of their lines.
    public var problems: [Problem]

    public var description: String {
        problems.map { "\(file): \($0)" }.joined(separator: "\n")
    }
}
