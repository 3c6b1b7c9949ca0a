extension HTTPHead {
    /// The position of the first byte that the content holds (`Content-Range` of RFC 9110, section 14.4); nil where the answer
    /// does not say it.
    public var contentRangeStart: Int64? {
        guard let text = value(of: "content-range")?.lowercased(), text.hasPrefix("bytes ") else { return nil }
        return Int64(text.dropFirst(6).prefix { $0 != "-" }).flatMap { $0 >= 0 ? $0 : nil }
    }
}
