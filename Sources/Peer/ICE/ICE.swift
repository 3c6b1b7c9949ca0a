import STUN

/// Interactive Connectivity Establishment (RFC 8445): the parts that do not need an agent.
public enum ICE {
    /// The user name fragment of the agent that a Binding request is meant for: the first half of its USERNAME
    /// (RFC 8445, section 7.2.2). Nil for anything else.
    ///
    /// This is how one UDP port serves all sessions: the first request from an unknown address finds its session by
    /// this name. It reads only the header's type and the attribute's position. The agent checks the rest.
    public static func localUsernameFragment(
        inBindingRequest datagram: UnsafeRawBufferPointer
    ) -> UnsafeRawBufferPointer? {
        guard datagram.count > STUN.headerLength, datagram[0] == 0, datagram[1] == 1 else { return nil }
        var offset = STUN.headerLength
        while datagram.count - offset >= 4 {
            let type = UInt16(datagram[offset]) << 8 | UInt16(datagram[offset + 1])
            let count = Int(datagram[offset + 2]) << 8 | Int(datagram[offset + 3])
            let value = offset + 4
            guard datagram.count - value >= count else { return nil }
            if type == STUNAttributeType.username {
                let username = datagram[value..<value + count]
                guard let colon = username.firstIndex(of: UInt8(ascii: ":")), colon > value else { return nil }
                return UnsafeRawBufferPointer(rebasing: username[..<colon])
            }
            offset = value + (count + 3) & ~3
        }
        return nil
    }

    /// The priority of a candidate (RFC 8445, section 5.1.2.1).
    ///
    /// - Parameters:
    ///   - type: what kind of candidate it is.
    ///   - localPreference: larger is better; it differs for each address of a host.
    ///   - component: 1 for RTP, and for everything with rtcp-mux.
    public static func candidatePriority(
        type: ICECandidateType, localPreference: UInt16, component: UInt8 = 1
    ) -> UInt32 {
        candidatePriority(preference: type.preference, localPreference: localPreference, component: component)
    }

    /// The priority of a candidate with another type preference than the recommended one.
    static func candidatePriority(preference: UInt8, localPreference: UInt16, component: UInt8 = 1) -> UInt32 {
        UInt32(preference) << 24 | UInt32(localPreference) << 8 | (256 - UInt32(component)) & 0xFF
    }

    /// The priority of a pair (RFC 8445, section 6.1.2.3): the same number at both ends.
    static func pairPriority(controlling: UInt32, controlled: UInt32) -> UInt64 {
        UInt64(min(controlling, controlled)) << 32 &+ 2 &* UInt64(max(controlling, controlled))
            &+ (controlling > controlled ? 1 : 0)
    }
}
