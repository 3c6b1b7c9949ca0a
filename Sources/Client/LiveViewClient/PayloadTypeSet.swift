/// A set of RTP payload types (0 to 127). Two words instead of a hash table, because each packet is looked up.
struct PayloadTypeSet {
    private var low: UInt64 = 0
    private var high: UInt64 = 0

    init(_ payloadTypes: some Sequence<UInt8>) {
        for type in payloadTypes {
            if type < 64 { low |= 1 << UInt64(type) } else if type < 128 { high |= 1 << UInt64(type - 64) }
        }
    }

    func contains(_ payloadType: UInt8) -> Bool {
        payloadType < 128 && (payloadType < 64 ? low : high) & 1 << UInt64(payloadType & 63) != 0
    }
}
