extension TransportAddress {
    /// Reads a literal IPv4 or IPv6 address (RFC 4291, section 2.2; a `%zone` is not accepted). Host names give nil.
    public init?(_ host: some StringProtocol, port: UInt16) {
        let bytes = Array(host.utf8)
        if bytes.contains(UInt8(ascii: ":")) {
            guard let (high, low) = Self.parseIPv6(bytes) else { return nil }
            self.init(ipv6High: high, low: low, port: port)
        } else {
            guard let address = Self.parseIPv4(bytes[...]) else { return nil }
            self.init(ipv4: address, port: port)
        }
    }

    private static func parseIPv4(_ bytes: ArraySlice<UInt8>) -> UInt32? {
        let parts = bytes.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count == 4 else { return nil }
        var address: UInt32 = 0
        for part in parts {
            guard (1...3).contains(part.count) else { return nil }
            var value: UInt32 = 0
            for byte in part {
                guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) else { return nil }
                value = value * 10 + UInt32(byte - UInt8(ascii: "0"))
            }
            // A leading zero means octal to some readers and decimal to others (RFC 6943, section 3.1.1): refused.
            guard value <= 255, part.count == 1 || part.first != UInt8(ascii: "0") else { return nil }
            address = address << 8 | value
        }
        return address
    }

    private static func parseIPv6(_ bytes: [UInt8]) -> (high: UInt64, low: UInt64)? {
        guard bytes.count <= 45 else { return nil }
        var groups: [UInt16] = []
        var gap: Int?
        var rest = bytes[...]
        if rest.starts(with: "::".utf8) {
            gap = 0
            rest = rest.dropFirst(2)
        }
        while !rest.isEmpty {
            let end = rest.firstIndex(of: UInt8(ascii: ":")) ?? rest.endIndex
            let part = rest[rest.startIndex..<end]
            if part.contains(UInt8(ascii: ".")) {
                guard end == rest.endIndex, let address = parseIPv4(part) else { return nil }
                groups += [UInt16(truncatingIfNeeded: address >> 16), UInt16(truncatingIfNeeded: address)]
                rest = []
                break
            }
            guard let group = parseGroup(part) else { return nil }
            groups.append(group)
            guard end < rest.endIndex else { break }
            rest = rest[(end + 1)...]
            if rest.isEmpty { return nil }
            if rest.first == UInt8(ascii: ":") {
                guard gap == nil else { return nil }
                gap = groups.count
                rest = rest.dropFirst()
            }
        }
        if let gap {
            guard groups.count <= 7 else { return nil }
            groups.insert(contentsOf: repeatElement(0, count: 8 - groups.count), at: gap)
        }
        guard groups.count == 8 else { return nil }
        let halves = groups.map(UInt64.init)
        return (
            halves[0] << 48 | halves[1] << 32 | halves[2] << 16 | halves[3],
            halves[4] << 48 | halves[5] << 32 | halves[6] << 16 | halves[7]
        )
    }

    /// One to four hexadecimal digits. `UInt16(_:radix:)` would also accept a sign.
    private static func parseGroup(_ digits: ArraySlice<UInt8>) -> UInt16? {
        guard (1...4).contains(digits.count) else { return nil }
        var group: UInt16 = 0
        for digit in digits {
            let value: UInt8
            switch digit {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): value = digit - UInt8(ascii: "0")
            case UInt8(ascii: "a")...UInt8(ascii: "f"): value = digit - UInt8(ascii: "a") + 10
            case UInt8(ascii: "A")...UInt8(ascii: "F"): value = digit - UInt8(ascii: "A") + 10
            default: return nil
            }
            group = group << 4 | UInt16(value)
        }
        return group
    }
}
