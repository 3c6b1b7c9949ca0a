import Transport

/// A queue in which hosts take turns: one element of each host, in the order in which its elements came.
///
/// Every second turn goes to the host with the fewest waiting elements, so a client that does one thing at a time is served
/// among any number of flooding hosts. The other turns keep every host going.
struct HostQueue<Element> {
    private var elements: [TransportAddress: [Element]] = [:]
    /// The hosts with waiting elements, the next one first.
    private var hosts: [TransportAddress] = []
    private var prefersFew = false

    var isEmpty: Bool { hosts.isEmpty }

    mutating func append(_ element: Element, of host: TransportAddress) {
        if elements[host] == nil { hosts.append(host) }
        elements[host, default: []].append(element)
    }

    mutating func popFirst() -> Element? {
        prefersFew.toggle()
        let index = prefersFew ? indexOfFewest : hosts.indices.first
        guard let index else { return nil }
        let host = hosts.remove(at: index)
        let first = elements[host]?.removeFirst()
        if elements[host]?.isEmpty == true { elements[host] = nil } else { hosts.append(host) }
        return first
    }

    private var indexOfFewest: Int? {
        hosts.indices.min {
            (elements[hosts[$0]]?.count ?? 0) < (elements[hosts[$1]]?.count ?? 0)
        }
    }
}
