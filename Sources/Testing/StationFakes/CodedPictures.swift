import Codecs
import Foundation
import RTP
import SDP
import Transport

/// Twelve pictures of 96 × 64 at 15 a second, each 15 steps brighter than the one before, as x264 and x265 have coded them,
/// in the order of decoding.
package enum CodedPictures {
    package static let width = 96
    package static let height = 64
    package static let count = 12

    /// How bright the picture that is shown at this place is; a small part of it is darker.
    package static func brightness(_ place: Int) -> Int { 30 + place * 15 }

    /// The pictures in H.264 with two B-frames between two others.
    package static func h264() throws -> [Coded] { try decode(h264WithBFrames) }
    /// The pictures in H.265.
    package static func h265() throws -> [Coded] { try decode(h265InOrder) }

    /// The pictures in H.265 with three B-frames, of which others refer to one.
    package static func h265WithBFrames() throws -> [Coded] { try decode(h265Reordered) }

    /// The pictures as RTP payloads of Motion JPEG (RFC 2435).
    package static func jpeg() throws -> [Coded] {
        try (0..<count).map { place in
            var frame = I420Frame(width: width, height: height)
            for index in frame.luma.indices { frame.luma[index] = UInt8(brightness(place)) }
            for index in frame.chromaBlue.indices { frame.chromaBlue[index] = 128 }
            for index in frame.chromaRed.indices { frame.chromaRed[index] = 128 }
            return Coded(place: place, payloads: [try payload(ofImage: JPEGEncoder.encode(frame, quality: 80))])
        }
    }

    /// One picture.
    package struct Coded {
        /// Its place in the order of showing.
        package var place: Int
        /// What its packets carry, one NAL unit each.
        package var payloads: [[UInt8]]

        package init(place: Int, payloads: [[UInt8]]) {
            self.place = place
            self.payloads = payloads
        }
    }

    private static func decode(_ pictures: [(shown: Int, units: [String])]) throws -> [Coded] {
        pictures.map { shown, units in
            Coded(place: shown, payloads: units.map { Array(Data(base64Encoded: $0) ?? Data()) })
        }
    }

    /// A small JFIF image in one packet: type 1 is 4:2:0, and Q of 255 says that the tables come along.
    private static func payload(ofImage image: [UInt8]) throws -> [UInt8] {
        var tables: [UInt8] = []
        var place = 2
        while place + 4 <= image.count {
            let (marker, length) = (image[place + 1], Int(image[place + 2]) << 8 | Int(image[place + 3]))
            let segment = image[(place + 4)..<(place + 2 + length)]
            place += 2 + length
            if marker == 0xDB {
                // Tables of 64 bytes, each after its number.
                for start in stride(from: segment.startIndex, to: segment.endIndex, by: 65) {
                    tables += segment[(start + 1)..<(start + 65)]
                }
            }
            if marker == 0xDA { break }
        }
        let header: [UInt8] = [0, 0, 0, 0, 1, 255, UInt8(width / 8), UInt8(height / 8), 0, 0, 0, UInt8(tables.count)]
        return header + tables + image[place..<(image.count - 2)]
    }

    /// The batches of the pictures, as a camera's source hands them out, one for each.
    package static func batches(
        _ pictures: [Coded], payloadType: UInt8 = 96, arrival: (Int) -> Instant
    ) -> [PacketBatch] {
        var pool = PacketBatchPool()
        var sequence: UInt16 = 65_530
        return pictures.enumerated().compactMap { number, picture in
            for (index, payload) in picture.payloads.enumerated() {
                var flags: PacketBatch.Flags = []
                if index == 0 { flags.insert(.startsFrame) }
                if number == 0 || picture.payloads[0].starts(with: [0, 0, 0, 0, 1, 255]) { flags.insert(.keyFrame) }
                if index == picture.payloads.count - 1 { flags.insert(.marker) }
                payload.withUnsafeBytes {
                    pool.append(
                        PacketBatch.Packet(
                            offset: 0, length: 0, timestamp: UInt32(900_000 + picture.place * 6_000),
                            sequenceNumber: sequence, payloadType: payloadType, flags: flags),
                        payload: $0)
                }
                sequence &+= 1
            }
            return pool.finish(arrival: arrival(number))
        }
    }
}

extension CodedPictures {
    fileprivate static let h264WithBFrames: [(shown: Int, units: [String])] = [
        (
            0,
            [
                "Z2QACqzZRiaEAAADAAQAAAMAeDxIllg=",
                "aO+G8sA=",
                "ZYiEAJ99cBoVd/geaSVHbfdzoBNPc/fXGq2g1MGmqBaLh8p5w21lckE=",
            ]
        ),
        (
            3,
            [
                "QZojHQFohn+TxNTraPV4RfVAH7mTwyS3ssHC9apBZNpVXiwfs8qzpb86+iEAwA=="
            ]
        ),
        (
            1,
            [
                "QZ5BQk/8OsV7z2Dts+TJUHdkYyEHZO9c3kzslfq10AmQ+iVqIZVjVhWZF16/"
            ]
        ),
        (
            2,
            [
                "AZ5iRX/9YU6+sRNxfZn2cut8MVUyu++aGV28ANT1dq1O9K/9NSE/zGDrrMfCOYA="
            ]
        ),
        (
            6,
            [
                "QZpmNE6AtEO/97AwPePhHrqAI9L/X/C9it52TPFu6ds72g5ncnVN"
            ]
        ),
        (
            4,
            [
                "QZ6ERREsM/+Ofw+HCASvf/1I0lB7V+ML/8IUB+PeCHtvcTa+5Sgv"
            ]
        ),
        (
            5,
            [
                "AZ6lRC//kr5zuABI1GQvF3z/YBmQyp/TdvGhv+WUbDHIUFoDizHDdTwOgnBB"
            ]
        ),
        (
            9,
            [
                "QZqpNE6AtEM//ELT7I74Rl4AG10ufk9VH6W3gkw58Wb4rZFYyP3ZDmneUW1GZj36rQ=="
            ]
        ),
        (
            7,
            [
                "QZ7HRRUsM/9mXNsNBDKAP3MnhkINYVxM+cKzh57wai+DWd1neLniCfDC/A=="
            ]
        ),
        (
            8,
            [
                "AZ7oRC//Z59A6j4LE6gFhP8h5Hn/OFqOWeJlE7OL/+oH"
            ]
        ),
        (
            11,
            [
                "QZrrNE6B4omF//321nlb3PwL5KdJEB9OjcXjbdJhIQ=="
            ]
        ),
        (
            10,
            [
                "AZ8KRC//TZ3w4SUYgKE//bSpgFavAXhKd+SzhciaqP4ywoHHYDij9mNw"
            ]
        ),
    ]

    fileprivate static let h265InOrder: [(shown: Int, units: [String])] = [
        (
            0,
            [
                "QAEMAf//AWAAAAMAkAAAAwAAAwAeugJA",
                "QgEBAWAAAAMAkAAAAwAAAwAeoDCBBZbpKTC5oCAAAAMAIAAAAwHh",
                "RAHAcYMS",
                "KAGsfRZQhjJ+H09geqfX3G/QuYf/Tx76xN/1Bn4=",
            ]
        ),
        (
            1,
            [
                "AgHQCXiAjovItlTLpKg5kGG3c7ol2z1OdpibFHTsRPbA+KdnFep76t/ZhBQQ"
            ]
        ),
        (
            2,
            [
                "AgHQEf4gIyNPB0Mg3k6UZIu/Gglfh+yJsWekJNeOl9vz4/PjuHVL8A9Bxn1umJT/UO0yD8baphYw"
            ]
        ),
        (
            3,
            [
                "AgHQGf4gIyNRB0Mg3N6KZItvED3NJcvcsAilE6iVxg6wTqHSX3ms47Q+exWWFzeX8SjsZZZ7k1MLGA=="
            ]
        ),
        (
            4,
            [
                "AgHQIf4gI6L2nGw/Eb5xGOt97YELFA+DhJP0fG/kFndEHu/sZX0oeSud4DsqQMA="
            ]
        ),
        (
            5,
            [
                "AgHQKf4gIyNbnGw/Eb5xng1TZRo1t55Er7AN8RJCh7fOV4kChpkvPFuLe3r1a6BcyZELeHX1qO2YQgw="
            ]
        ),
        (
            6,
            [
                "AgHQMf4gI6Lic1X//ON00eXZxvJmq+mj3/0v6uopa3DLtGgdLi5E3TA="
            ]
        ),
        (
            7,
            [
                "AgHQOf4gIyNTc1Xy/F2qfY/09XGK6dPByYBOASVcoQSCyyb4H7W8Sy9s7v2n2+HpTT9od+TPw9+EIqA="
            ]
        ),
        (
            8,
            [
                "AgHQQf4gIyNRGG3/wQ8w9BzXhtnbyuJvad9u9//44ckUcw87Cz8fzBYP/XfpHDwnf7R7SKQH9TjM1hmZ/ifzjIDT2x0VR5b0"
                    + "wIH0Edl5dcTeRhAz4A=="
            ]
        ),
        (
            9,
            [
                "AgHQSf4gI6L2GG3/wR2uPCcIfDsTNXO6Jds9TnanWxR06Vd7p8eoa7xZrR74IA=="
            ]
        ),
        (
            10,
            [
                "AgHQUf4gIyNbGG3/wR2uPCcIe6P81QrAwPpPM2DD61Gqe5/YcHQ0oObIPLrAjAAmdA+Jk5fUxGwUPQ+A"
            ]
        ),
        (
            11,
            [
                "AgHQWf4gI6L2GG3/wQ9AW1zEPVVJmux9Ev12pzsnbYo6dKu092e0e0CXH8DE9VA="
            ]
        ),
    ]

    fileprivate static let h265Reordered: [(shown: Int, units: [String])] = [
        (
            0,
            [
                "QAEMAf//AWAAAAMAkAAAAwAAAwAelZQJ",
                "QgEBAWAAAAMAkAAAAwAAAwAeoDCBBZZWVKTC5oCAAAADAIAAAAeE",
                "RAHAc8GJ",
                "KAGvROiIDb5V8rFSL/e/YfXw/NLdWZ7w",
            ]
        ),
        (
            4,
            [
                "AgHQIUmJosKSzvfSVKOFFadRQIMqzb2XkJBa91QGCQddjZENLA=="
            ]
        ),
        (
            2,
            [
                "AgHgRJVgiIsYM1tH3ThlX1obK/jEp5gHN0XwK1PUHUu+tNSg39AAOuvg"
            ]
        ),
        (
            1,
            [
                "AAHgJP16JCUToN+01e4X7cSR+DHvSPwMII43GIxOjJLwjZo="
            ]
        ),
        (
            3,
            [
                "AAHgZrXghCJsMdpxnb7DNmrB1mQXBH7Zxwey/CXUQ3FrbmTFunqA"
            ]
        ),
        (
            8,
            [
                "AgHQQJJVYki0gJNtpcCgdmerim1JWx6e1tbQD4xbUH842SMrKkFzCo3l628oN4A="
            ]
        ),
        (
            6,
            [
                "AgHgwiVVWCKiyvqDiV7HECzGdYDh1dFv00zonZBE8/2CcRDmvHsb0wkXl7Xoacmr"
            ]
        ),
        (
            5,
            [
                "AAHgpvXXokISYKOYnJ3qsd5g"
            ]
        ),
        (
            7,
            [
                "AAHg4i1XghCJ0LH/PMmnt+gvdk9qIKIEwD9CUO9hRlitVnjHrc4aQA=="
            ]
        ),
        (
            11,
            [
                "AgHQWLdVWJosoCMWfOeu4sfFUAH20ydzGW3zAqCVGrV8ixkAQA=="
            ]
        ),
        (
            10,
            [
                "AgHhQiVSeCIizhrohjNyhuxu80HTaiLAO63Xg+X7FalyK1dV4u/Q77P/0lyCfaGzTg=="
            ]
        ),
        (
            9,
            [
                "AAHhJvX+iQlE2L/pvrfjLPYAj0TUkVB4Q0wRTYTL8BnQ"
            ]
        ),
    ]
}
