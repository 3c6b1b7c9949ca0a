/// The `o=` line: who made the session, and its version (RFC 8866, section 5.2).
public struct Origin: Hashable, Sendable, Codable {
    /// The user's name; `-` where there is none.
    public var username: String
    /// The session's identifier as written: cameras send numbers above 64 bits, negative, hexadecimal and none at all.
    public var sessionID: String
    /// The version of the description as written.
    public var sessionVersion: String
    /// `IP4` or `IP6`, as written; empty where it is missing.
    public var addressType: String
    /// The address of the maker as written; empty where it is missing.
    public var address: String

    /// Describes the maker of a session. The address of a WebRTC peer carries no information (RFC 8829, section 5.2.1).
    public init(
        username: String = "-", sessionID: UInt64, sessionVersion: UInt64, addressType: String = "IP4",
        address: String = "127.0.0.1"
    ) {
        self.username = username
        self.sessionID = String(sessionID)
        self.sessionVersion = String(sessionVersion)
        self.addressType = addressType
        self.address = address
    }

    /// Reads the value of an `o=` line; what is missing stays empty. It never fails, since nothing depends on the line.
    init(parsing value: String) {
        let words = value.words
        // The network type can be recognized by its word. The numbers before it may be missing.
        let network = words.firstIndex { $0.equalsIgnoringCase("IN") || $0.equalsIgnoringCase("IP") }
        let head = words[..<(network ?? min(words.count, 3))]
        let tail = network.map { words[($0 + 1)...] } ?? words.dropFirst(3)
        // Some names hold spaces, some are left out, and some lines have numbers added at the end. The two numbers are
        // taken from where the fewest words are out of place.
        let numbers: ArraySlice<Substring>
        switch head.count {
        case 0...1: numbers = head.dropFirst()
        case 2 where head[0] != "-": numbers = head
        case 2...3: numbers = head.dropFirst()
        default: numbers = head[0] == "-" ? head[1...2] : head.suffix(2)
        }
        let name = head[..<numbers.startIndex].joined(separator: " ")
        username = name.isEmpty ? "-" : name
        sessionID = numbers.first.map(String.init) ?? ""
        sessionVersion = numbers.dropFirst().first.map(String.init) ?? ""
        addressType = tail.first.map(String.init) ?? ""
        address = tail.dropFirst().first.map(String.init) ?? ""
    }

    /// The value of the line.
    public var text: String { "\(username) \(sessionID) \(sessionVersion) IN \(addressType) \(address)" }

    static func fault(in value: String) -> String? {
        let words = value.words
        guard words.count == 6 else {
            return "has \(words.count) words; <username> <session> <version> IN IP4 <address> was expected"
        }
        guard UInt64(words[1]) != nil, UInt64(words[2]) != nil else {
            return "the session identifier and version are not numbers of at most 64 bits"
        }
        guard words[3] == "IN", words[4] == "IP4" || words[4] == "IP6" else {
            return "\(words[3]) \(words[4]) is neither IN IP4 nor IN IP6"
        }
        return nil
    }
}
