// Made by Tests/RideCoreTests/Golden/cldr-tables.py from CLDR 47, by babel 2.18; do not edit.
enum LocaleTable {
  /// Each parent, and the locales that inherit from it against the usual rule.
  static let parents = """
    en-001: en-150 en-AG en-AI en-AU en-BB en-BM en-BS en-BW en-BZ en-CC en-CK en-CM en-CX en-CY \
    en-DG en-DM en-ER en-FJ en-FK en-FM en-GB en-GD en-GG en-GH en-GI en-GM en-GS en-GY en-HK \
    en-ID en-IE en-IL en-IM en-IN en-IO en-JE en-JM en-KE en-KI en-KN en-KY en-LC en-LR en-LS \
    en-MG en-MO en-MS en-MT en-MU en-MV en-MW en-MY en-NA en-NF en-NG en-NR en-NU en-NZ en-PG \
    en-PK en-PN en-PW en-RW en-SB en-SC en-SD en-SG en-SH en-SL en-SS en-SX en-SZ en-TC en-TK \
    en-TO en-TT en-TV en-TZ en-UG en-VC en-VG en-VU en-WS en-ZA en-ZM en-ZW
    en-150: en-AT en-BE en-CH en-CZ en-DE en-DK en-ES en-FI en-FR en-HU en-IT en-NL en-NO en-PL \
    en-PT en-RO en-SE en-SI en-SK
    en-IN: hi-Latn
    es-419: es-AR es-BO es-BR es-BZ es-CL es-CO es-CR es-CU es-DO es-EC es-GT es-HN es-JP es-MX \
    es-NI es-PA es-PE es-PR es-PY es-SV es-US es-UY es-VE
    fr-HT: ht
    no: nb nn
    pt-PT: pt-AO pt-CH pt-CV pt-FR pt-GQ pt-GW pt-LU pt-MO pt-MZ pt-ST pt-TL
    zh-Hant-HK: zh-Hant-MO
    """

  /// Each language with its likely script and region.
  static let likely = """
    aa-Latn-ET ab-Cyrl-GE af-Latn-ZA agq-Latn-CM ak-Latn-GH am-Ethi-ET an-Latn-ES ann-Latn-NG \
    apc-Arab-SY ar-Arab-EG arn-Latn-CL as-Beng-IN asa-Latn-TZ ast-Latn-ES az-Latn-AZ ba-Cyrl-RU \
    bal-Arab-PK bas-Latn-CM be-Cyrl-BY bem-Latn-ZM bew-Latn-ID bez-Latn-TZ bg-Cyrl-BG \
    bgc-Deva-IN bgn-Arab-PK bho-Deva-IN blo-Latn-BJ blt-Tavt-VN bm-Latn-ML bn-Beng-BD bo-Tibt-CN \
    br-Latn-FR brx-Deva-IN bs-Latn-BA bss-Latn-CM byn-Ethi-ER ca-Latn-ES cad-Latn-US cch-Latn-NG \
    ccp-Cakm-BD ce-Cyrl-RU ceb-Latn-PH cgg-Latn-UG cho-Latn-US chr-Cher-US cic-Latn-US \
    ckb-Arab-IQ co-Latn-FR cop-Copt-EG cs-Latn-CZ csw-Cans-CA cu-Cyrl-RU cv-Cyrl-RU cy-Latn-GB \
    da-Latn-DK dav-Latn-KE de-Latn-DE dje-Latn-NE doi-Deva-IN dsb-Latn-DE dua-Latn-CM dv-Thaa-MV \
    dyo-Latn-SN dz-Tibt-BT ebu-Latn-KE ee-Latn-GH el-Grek-GR en-Latn-US eo-Latn-001 es-Latn-ES \
    et-Latn-EE eu-Latn-ES ewo-Latn-CM fa-Arab-IR ff-Latn-SN fi-Latn-FI fil-Latn-PH fo-Latn-FO \
    fr-Latn-FR frr-Latn-DE fur-Latn-IT fy-Latn-NL ga-Latn-IE gaa-Latn-GH gd-Latn-GB gez-Ethi-ET \
    gl-Latn-ES gn-Latn-PY gsw-Latn-CH gu-Gujr-IN guz-Latn-KE gv-Latn-IM ha-Latn-NG haw-Latn-US \
    he-Hebr-IL hi-Deva-IN hnj-Hmnp-US hr-Latn-HR hsb-Latn-DE ht-Latn-HT hu-Latn-HU hy-Armn-AM \
    ia-Latn-001 id-Latn-ID ie-Latn-EE ig-Latn-NG ii-Yiii-CN io-Latn-001 is-Latn-IS it-Latn-IT \
    iu-Cans-CA ja-Jpan-JP jbo-Latn-001 jgo-Latn-CM jmc-Latn-TZ jv-Latn-ID ka-Geor-GE kaa-Cyrl-UZ \
    kab-Latn-DZ kaj-Latn-NG kam-Latn-KE kcg-Latn-NG kde-Latn-TZ kea-Latn-CV ken-Latn-CM \
    kgp-Latn-BR khq-Latn-ML ki-Latn-KE kk-Cyrl-KZ kkj-Latn-CM kl-Latn-GL kln-Latn-KE km-Khmr-KH \
    kn-Knda-IN ko-Kore-KR kok-Deva-IN kpe-Latn-LR ks-Arab-IN ksb-Latn-TZ ksf-Latn-CM ksh-Latn-DE \
    ku-Latn-TR kw-Latn-GB kxv-Latn-IN ky-Cyrl-KG la-Latn-VA lag-Latn-TZ lb-Latn-LU lg-Latn-UG \
    lij-Latn-IT lkt-Latn-US lld-Latn-IT lmo-Latn-IT ln-Latn-CD lo-Laoo-LA lrc-Arab-IR lt-Latn-LT \
    ltg-Latn-LV lu-Latn-CD luo-Latn-KE luy-Latn-KE lv-Latn-LV mai-Deva-IN mas-Latn-KE \
    mdf-Cyrl-RU mer-Latn-KE mfe-Latn-MU mg-Latn-MG mgh-Latn-MZ mgo-Latn-CM mhn-Latn-IT \
    mi-Latn-NZ mic-Latn-CA mk-Cyrl-MK ml-Mlym-IN mn-Cyrl-MN mni-Beng-IN moh-Latn-CA mr-Deva-IN \
    ms-Latn-MY mt-Latn-MT mua-Latn-CM mus-Latn-US my-Mymr-MM myv-Cyrl-RU mzn-Arab-IR naq-Latn-NA \
    nb-Latn-NO nd-Latn-ZW nds-Latn-DE ne-Deva-NP nl-Latn-NL nmg-Latn-CM nn-Latn-NO nnh-Latn-CM \
    no-Latn-NO nqo-Nkoo-GN nr-Latn-ZA nso-Latn-ZA nus-Latn-SS nv-Latn-US ny-Latn-MW nyn-Latn-UG \
    oc-Latn-FR om-Latn-ET or-Orya-IN os-Cyrl-GE osa-Osge-US pa-Guru-IN pap-Latn-CW pcm-Latn-NG \
    pis-Latn-SB pl-Latn-PL prg-Latn-PL ps-Arab-AF pt-Latn-BR qu-Latn-PE quc-Latn-GT raj-Deva-IN \
    rhg-Rohg-MM rif-Latn-MA rm-Latn-CH rn-Latn-BI ro-Latn-RO rof-Latn-TZ ru-Cyrl-RU rw-Latn-RW \
    rwk-Latn-TZ sa-Deva-IN sah-Cyrl-RU saq-Latn-KE sat-Olck-IN sbp-Latn-TZ sc-Latn-IT \
    scn-Latn-IT sd-Arab-PK sdh-Arab-IR se-Latn-NO seh-Latn-MZ ses-Latn-ML sg-Latn-CF shi-Tfng-MA \
    shn-Mymr-MM si-Sinh-LK sid-Latn-ET sk-Latn-SK skr-Arab-PK sl-Latn-SI sma-Latn-SE smj-Latn-SE \
    smn-Latn-FI sms-Latn-FI sn-Latn-ZW so-Latn-SO sq-Latn-AL sr-Cyrl-RS ss-Latn-ZA ssy-Latn-ER \
    st-Latn-ZA su-Latn-ID sv-Latn-SE sw-Latn-TZ syr-Syrc-IQ szl-Latn-PL ta-Taml-IN te-Telu-IN \
    teo-Latn-UG tg-Cyrl-TJ th-Thai-TH ti-Ethi-ET tig-Ethi-ER tk-Latn-TM tn-Latn-ZA to-Latn-TO \
    tok-Latn-001 tpi-Latn-PG tr-Latn-TR trv-Latn-TW trw-Arab-PK ts-Latn-ZA tt-Cyrl-RU \
    twq-Latn-NE tyv-Cyrl-RU tzm-Latn-MA ug-Arab-CN uk-Cyrl-UA ur-Arab-PK uz-Latn-UZ vai-Vaii-LR \
    ve-Latn-ZA vec-Latn-IT vi-Latn-VN vmw-Latn-MZ vo-Latn-001 vun-Latn-TZ wa-Latn-BE wae-Latn-CH \
    wal-Ethi-ET wbp-Latn-AU wo-Latn-SN xh-Latn-ZA xnr-Deva-IN xog-Latn-UG yav-Latn-CM yi-Hebr-UA \
    yo-Latn-NG yrl-Latn-BR yue-Hant-HK za-Latn-CN zgh-Tfng-MA zh-Hans-CN zu-Latn-ZA
    """

  /// The regions where a language is likely written in another script.
  static let scripts = """
    az-Arab-IQ az-Arab-IR az-Cyrl-RU ha-Arab-CM ha-Arab-SD kk-Arab-AF kk-Arab-CN kk-Arab-IR \
    kk-Arab-MN ku-Arab-LB ky-Arab-CN ky-Latn-TR mn-Mong-CN ms-Arab-CC pa-Arab-PK sd-Deva-IN \
    sr-Latn-ME sr-Latn-RO sr-Latn-TR tg-Arab-PK ug-Cyrl-KZ ug-Cyrl-MN uz-Arab-AF uz-Cyrl-CN \
    yue-Hans-CN zh-Hant-AU zh-Hant-BN zh-Hant-GB zh-Hant-GF zh-Hant-HK zh-Hant-ID zh-Hant-MO \
    zh-Hant-PA zh-Hant-PF zh-Hant-PH zh-Hant-SR zh-Hant-TH zh-Hant-TW zh-Hant-US zh-Hant-VN
    """

  /// Old codes of languages, and what they are now.
  static let aliases = """
    bh=bho in=id iw=he ji=yi jw=jv mo=ro sh=sr-Latn tl=fil tw=ak
    """
}
